// Blocks in order, for lists that are long and change all the time: a sorted array, cut into chunks that are
// short enough for their blocks to be moved.
//
//   chunks   |a b c . .|d e f g h|i j . . .|          none is empty
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stowage {

// Keeps its memory. Cost of insert(), erase() and lower_bound(): logarithmic, and the move of half a chunk.
template <class Block>
class OrderedBlocks {
  using Chunk = std::vector<Block>;

 public:
  // Forwards only. Valid until the next change.
  class Iterator {
   public:
    Iterator(const std::vector<Chunk>& chunks, std::size_t chunk, std::size_t index)
        : chunks_(&chunks), chunk_(chunk), index_(index) {}

    const Block& operator*() const { return (*chunks_)[chunk_][index_]; }
    const Block* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++index_ == (*chunks_)[chunk_].size()) {
        ++chunk_;
        index_ = 0;
      }
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    const std::vector<Chunk>* chunks_;
    std::size_t chunk_, index_;
  };

  bool empty() const { return chunks_.empty(); }
  Iterator begin() const { return {chunks_, 0, 0}; }
  Iterator end() const { return {chunks_, chunks_.size(), 0}; }
  const Block& last() const { return chunks_.back().back(); }
  // The first that is not less.
  Iterator lower_bound(const Block& block) const {
    const std::size_t chunk = chunk_of(block);
    return {chunks_, chunk, chunk == chunks_.size() ? 0 : index_in(chunks_[chunk], block)};
  }

  void insert(const Block& block) {
    std::size_t chunk = chunk_of(block);
    if (chunk == chunks_.size()) {
      if (empty()) open(chunk);
      chunk = chunks_.size() - 1;
    }
    if (chunks_[chunk].size() == most) {
      split(chunk);
      if (chunks_[chunk].back() < block) ++chunk;
    }
    Chunk& into = chunks_[chunk];
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(index_in(into, block)), block);
  }
  // One that is there.
  void erase(const Block& block) {
    const std::size_t chunk = chunk_of(block);
    Chunk& from = chunks_[chunk];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index_in(from, block)));
    if (from.empty()) close(chunk);
  }
  void clear() {
    while (!empty()) {
      chunks_.back().clear();
      close(chunks_.size() - 1);
    }
  }

 private:
  static constexpr std::size_t most = 64;  // blocks of a chunk

  // The only one that may hold it; past the last where all are less.
  std::size_t chunk_of(const Block& block) const {
    const auto found =
        std::lower_bound(chunks_.begin(), chunks_.end(), block,
                         [](const Chunk& chunk, const Block& at) { return chunk.back() < at; });
    return static_cast<std::size_t>(found - chunks_.begin());
  }
  static std::size_t index_in(const Chunk& chunk, const Block& block) {
    return static_cast<std::size_t>(std::lower_bound(chunk.begin(), chunk.end(), block) - chunk.begin());
  }

  void open(std::size_t at) {
    if (spare_.empty()) spare_.push_back(made());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(at), std::move(spare_.back()));
    spare_.pop_back();
  }
  // With room among the spare ones for all that there are, so that closing them allocates nothing.
  Chunk made() {
    if (spare_.capacity() <= chunks_.size()) spare_.reserve(2 * chunks_.size() + 1);
    Chunk chunk;
    chunk.reserve(most);
    return chunk;
  }
  void close(std::size_t at) {
    spare_.push_back(std::move(chunks_[at]));
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void split(std::size_t at) {
    open(at + 1);
    Chunk &lower = chunks_[at], &upper = chunks_[at + 1];
    upper.assign(lower.begin() + most / 2, lower.end());
    lower.resize(most / 2);
  }

  std::vector<Chunk> chunks_, spare_;
};

}  // namespace stowage
