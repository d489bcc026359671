// Plain data out of a Python pickle, and nothing else.
//
// A pickle is a program for a small machine. Of its instructions only those are known that make numbers,
// texts, lists, tuples and dictionaries; any that could name or call code ends the reading. Values that occur
// twice are kept once, and are never copied out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/import/byte_window.h"
#include "traces/import/name_table.h"
#include "traces/import/repairs.h"

namespace stowage {

struct PickleValue {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dictionary };

  Kind kind = Kind::none;
  union {
    std::int64_t integer = 0;  // of a boolean too; beyond 2^63 with the bits of an unsigned one
    double real;
    std::uint32_t index;  // of a text, a list or tuple, or a dictionary
  };
};

class Pickle {
 public:
  const PickleValue& root() const { return root_; }

  // Empty for anything but a text.
  std::string_view text(const PickleValue& value) const;
  // The items of a list or tuple; empty for anything else.
  std::span<const PickleValue> items(const PickleValue& value) const;
  // Keys and values in turn; empty for anything but a dictionary.
  std::span<const PickleValue> pairs(const PickleValue& value) const;
  // What a dictionary holds under a text, the last one if it is there twice; none for anything else.
  PickleValue find(const PickleValue& value, std::string_view key) const;
  std::optional<std::int64_t> integer(const PickleValue& value) const;

 private:
  friend class PickleReader;

  // A list or tuple, or a dictionary as keys and values in turn.
  struct Container {
    std::vector<PickleValue> values;
    std::uint64_t spread = 1;  // values that it would hold if nothing were shared
    std::uint32_t depth = 1;
  };

  PickleValue root_;
  NameTable texts_;
  std::vector<Container> containers_;
};

// Reads protocols 2 to 5. A file that is cut short gives what is complete, with a repair. Throws InputError,
// saying at which byte, for instructions beyond plain data, for nesting beyond 100, for shared values that
// would spread to more than 10^12, for texts of more than 16 MiB each, 262,144 different ones, or 32 MiB
// and 16 times the file, packed as it is, in all; for values of more than 64 MiB and 192 times the file; and
// for whatever makes no sense. Real snapshots shrink to a twentieth when packed, bombs to a thousandth.
Pickle read_pickle(ByteWindow& window, Repairs& repairs);

}  // namespace stowage
