#include "traces/config/text_lines.h"

#include <algorithm>

namespace stowage {

std::size_t offset_of(const std::string& text, TextPosition position) {
  std::size_t at = 0;
  for (std::size_t line = 1; line < position.line && at < text.size(); ++line) at = behind_line(text, at);
  for (std::size_t column = 1; column < position.column && at < text.size(); ++column) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
  return at;
}

std::size_t behind_line(const std::string& text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  return end == std::string::npos ? text.size() : end + 1;
}

std::string indent_at(const std::string& text, std::size_t begin) {
  const std::size_t end = text.find_first_not_of(" \t", begin);
  return text.substr(begin, std::min(end, text.size()) - begin);
}

void end_line(std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
}

}  // namespace stowage
