// Each different text once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stowage {

class NameTable {
 public:
  using Id = std::uint32_t;

  NameTable() = default;
  NameTable(const NameTable&) = delete;  // the index points into the texts
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  // Ids are dense, in the order of first appearance.
  Id id_of(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const Id id = static_cast<Id>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  const std::string& text(Id id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, Id> ids_;
};

}  // namespace stowage
