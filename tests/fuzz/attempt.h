// What every parser promises of any bytes: a value or an InputError, and a value survives its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "traces/error.h"

namespace stowage {

// The parsed value; absent where it was refused.
template <class Parse>
auto attempt(const std::uint8_t* bytes, std::size_t size, Parse parse) {
  using Value = decltype(parse(std::string()));
  try {
    return std::optional<Value>(parse(std::string(bytes, bytes + size)));
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    return std::optional<Value>();
  }
}

// Parses, writes and parses again; ends the program where the two differ. What is written must never be
// refused.
template <class Parse, class Write>
int survives(const std::uint8_t* bytes, std::size_t size, Parse parse, Write write) {
  const auto value = attempt(bytes, size, parse);
  if (value && !(parse(write(*value)) == *value)) std::abort();
  return 0;
}

}  // namespace stowage
