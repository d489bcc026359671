// Pickles made by hand, of protocol 4 unless told otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stowage::tests {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// The instructions that leave one value on the stack.
inline std::string pickled(std::int64_t value) {
  if (value >= 0 && value < 256) return "K" + little_endian(static_cast<std::uint64_t>(value), 1);
  return "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8);
}

inline std::string pickled(const std::string& text) {
  return "X" + little_endian(text.size(), 4) + text;
}

inline std::string pickled_list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

inline std::string pickled_dictionary(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "}(";
  for (const auto& [key, value] : entries) out += pickled(key) + value;
  return out + "u";
}

inline std::string pickle_of(const std::string& instructions, int protocol = 4) {
  return std::string("\x80") + static_cast<char>(protocol) + instructions + ".";
}

}  // namespace stowage::tests
