// A hash of a text, the same everywhere and always.
#pragma once

#include <cstdint>
#include <string_view>

namespace stowage {

// FNV-1a, folded.
inline std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace stowage
