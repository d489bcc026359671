// Places in a text, as parsers tell them and as editing needs them.
#pragma once

#include <cstddef>
#include <string>

namespace stowage {

// From 1. A column counts code points.
struct TextPosition {
  std::size_t line, column;
};

// Bytes before the position; the text's size for one behind it.
std::size_t offset_of(const std::string& text, TextPosition position);
// Behind the end of the line that `at` is in.
std::size_t behind_line(const std::string& text, std::size_t at);
// The blanks that the line at `begin` begins with.
std::string indent_at(const std::string& text, std::size_t begin);
// Gives the last line an end where it has none.
void end_line(std::string& text);

}  // namespace stowage
