// Sizes, durations and shares as people write and read them.
#pragma once

#include <string>

#include "traces/units.h"

namespace stowage {

// "24GiB", "24GB", "1.5GiB", "25769803776", "512 MiB": B, kB to TB are powers of 1000, KiB to TiB of 1024. A
// fraction of a byte is dropped. Throws InputError naming `source` for anything else, negative and
// overflowing sizes included.
Bytes parse_size(const std::string& source, const std::string& text);

// "10%" or "0.1", as a share. Throws InputError naming `source`, for negative shares too.
double parse_share(const std::string& source, const std::string& text);

// A decimal integer within [least, most]. Throws InputError naming `source`.
std::int64_t parse_count(const std::string& source, const std::string& text, std::int64_t least,
                         std::int64_t most);

// Three digits that matter: "217 B", "1.50 GiB", "130 ns", "12.3 ms".
std::string readable(Bytes bytes);
std::string readable(Nanos nanos);

// "12 %", "0.4 %"; with a sign where it is a change: "+12 %".
std::string percent(double share);
std::string change(double share);

}  // namespace stowage
