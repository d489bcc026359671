// The caching arena once more, told in the plainest way: one list of blocks, gone through from the start for
// every request. What verify holds the other one against; it shares no code with it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/arena.h"
#include "traces/machine.h"

namespace stowage {

class PlainArena final : public SimulatedArena {
 public:
  PlainArena(Bytes budget, const ArenaOptions& options) : budget_(budget), options_(options) {}

  // Cost: linear in the blocks, and in the buffers.
  bool allocate(const ArenaRequest& request, Nanos at) override;
  void free(std::uint32_t buffer, std::uint32_t stream, Nanos at) override;
  ArenaLevels levels() const override;

  std::int64_t retries() const { return retries_; }

 private:
  enum class Use : std::uint8_t { none, buffer, awaited, unmapped };

  // Neighbours in the list with equal `segment` are neighbours in memory.
  struct Piece {
    std::uint64_t segment;
    std::uint32_t stream;
    bool small;
    std::int64_t bytes;
    Use use = Use::none;
    std::uint32_t buffer = 0;
    Bytes requested;
    Nanos from;  // awaited: when it returns
  };
  using Place = std::size_t;  // in the list

  bool follows(Place place) const;  // the piece before it in memory
  void join_equals();
  void return_awaited(Nanos at);
  void give_back_cached();
  bool place(const ArenaRequest& request, std::int64_t bytes, Place where);
  bool find_cached(const ArenaRequest& request, std::int64_t bytes);
  bool take_new(const ArenaRequest& request, std::int64_t bytes);
  bool take_pages(const ArenaRequest& request, std::int64_t bytes);
  std::int64_t reserved() const;

  const Bytes budget_;
  const ArenaOptions options_;
  std::vector<Piece> pieces_;
  std::uint64_t segments_ = 0;
  std::int64_t retries_ = 0;
};

}  // namespace stowage
