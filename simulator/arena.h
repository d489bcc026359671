// What hands out device memory: an arena is asked for buffers and holds what it has taken from the device.
//
//   |<----------------------- reserved: taken from the device ------------------------>|
//   |<------- allocated: handed out, as rounded ------->|        cached, free           |
//   |<-- live: as requested -->| rounding, and buffers that another stream may still use |
#pragma once

#include <cstdint>
#include <vector>

#include "traces/units.h"

namespace stowage {

struct ArenaLevels {
  Bytes live, allocated, reserved;  // rising in this order, always

  bool operator==(const ArenaLevels&) const = default;
};

// A buffer and the stream whose memory it is to be: ids are dense.
struct ArenaRequest {
  std::uint32_t buffer;
  std::uint32_t stream;
  Bytes bytes;
};

// Calls come in time order; `at` never falls.
class SimulatedArena {
 public:
  virtual ~SimulatedArena() = default;

  // False: the budget does not allow it, and the buffer is not alive.
  virtual bool allocate(const ArenaRequest& request, Nanos at) = 0;
  // Of a buffer that is alive. `stream` used it last, and has just passed it.
  virtual void free(std::uint32_t buffer, std::uint32_t stream, Nanos at) = 0;
  virtual ArenaLevels levels() const = 0;
};

// Takes what is requested, to the byte, and gives it back at once.
class IdealArena final : public SimulatedArena {
 public:
  explicit IdealArena(Bytes budget) : budget_(budget) {}

  bool allocate(const ArenaRequest& request, Nanos) override {
    if (request.bytes > budget_ - live_) return false;
    if (request.buffer >= sizes_.size()) sizes_.resize(request.buffer + 1);
    sizes_[request.buffer] = request.bytes;
    live_ += request.bytes;
    return true;
  }
  void free(std::uint32_t buffer, std::uint32_t, Nanos) override { live_ -= sizes_[buffer]; }
  ArenaLevels levels() const override { return {live_, live_, live_}; }

 private:
  const Bytes budget_;
  Bytes live_;
  std::vector<Bytes> sizes_;
};

}  // namespace stowage
