// Each different text once.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stowage {

class NameTable {
 public:
  using Id = std::uint32_t;

  // How many texts there may be, and how long in all: those for which there is no room are one and the same.
  struct Limits {
    std::size_t texts = std::numeric_limits<Id>::max(), bytes = std::numeric_limits<std::size_t>::max();
  };
  // More than any program has names of its own.
  static constexpr Limits of_a_program{std::size_t{1} << 18, std::size_t{32} << 20};

  NameTable() = default;
  explicit NameTable(Limits limits) : limits_(limits) {}
  NameTable(const NameTable&) = delete;  // the index points into the texts
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  // Ids are dense, in the order of first appearance.
  Id id_of(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    if (full_) return *full_;
    const bool room = texts_.size() + 1 < limits_.texts && bytes_ + text.size() <= limits_.bytes;
    const Id id = static_cast<Id>(texts_.size());
    bytes_ += room ? text.size() : 0;
    texts_.emplace_back(room ? text : "(another name)");
    if (room) {
      ids_.emplace(texts_.back(), id);
    } else {
      full_ = id;
    }
    return id;
  }
  const std::string& text(Id id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }
  // Whether some names were not told apart.
  bool full() const { return full_.has_value(); }

 private:
  Limits limits_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, Id> ids_;
  std::size_t bytes_ = 0;
  std::optional<Id> full_;  // of all texts for which there was no room
};

}  // namespace stowage
