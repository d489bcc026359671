// Pieces of a JSON text as they stand there, and what they mean once somebody asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/units.h"

namespace stowage {

struct JsonText {
  enum class Kind : std::uint8_t { word, number, string, composite };

  Kind kind = Kind::word;
  bool escaped = false;   // a string with backslashes in it
  std::string_view text;  // of a string: what is between the quotes; of others: all of it
};

// A whole number, also one written as a string or with an exponent; a fraction is cut off. Absent for
// anything else and for what does not fit.
std::optional<std::int64_t> integer_of(std::string_view text);

// An identifier of 64 bits: as integers, and beyond 2^63 as well.
std::optional<std::uint64_t> identifier_of(std::string_view text);

// A decimal count of microseconds, exactly, to the nearest nanosecond. Absent where it is no number or does
// not fit.
std::optional<Nanos> micros_of(std::string_view text);

// Text in UTF-8: each byte that is part of no character becomes U+FFFD, as it does when JSON is written.
std::string well_formed(std::string_view text);

// Any finite number.
std::optional<double> number_of(std::string_view text);

// Replaces the escapes of a JSON string. A backslash that starts none stands for itself.
std::string unescaped(std::string_view text);

}  // namespace stowage
