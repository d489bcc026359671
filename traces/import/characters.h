// What recordings are searched for, character by character.
#pragma once

#include <string_view>

namespace stowage {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool digit(char c) {
  return c >= '0' && c <= '9';
}

inline bool space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// The first character that is no space; one must follow.
inline const char* past_spaces(const char* at) {
  while (space(*at)) ++at;
  return at;
}

}  // namespace stowage
