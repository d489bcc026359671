// What a parser says of wrong input.
#pragma once

#include <string>

#include "tests/catch.h"
#include "traces/error.h"

namespace stowage {

// `text` with the first `from` replaced; fails the test where there is none.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// "path: reason" of the InputError that `parse(text)` throws; "accepted" where it throws none.
template <class Parse>
std::string refusal(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.path() + ": " + error.reason();
  }
  return "accepted";
}

}  // namespace stowage
