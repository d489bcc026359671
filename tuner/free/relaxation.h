// The least that recomputation and copies cost together, if every byte copied has a price and copies are
// always in time.
//
// A dynamic programme over the chain. V_j(b) is the least cost of blocks before j if at most b of their bytes
// are on the device while later blocks run backward:
//
//   V_0(b) = 0        V_j(b) = min over treatments t that end with block j-1, and bytes x of it that travel:
//                              cost_t + price x + V_begin( min(room - peak_t, b - held_t + x) )
//
// Memory is counted in grains, always to the favour of the plan: so V is a lower bound for every plan made of
// these treatments, whatever its schedule. It is the "options per block" form of the programme known from
// rotor and Rockmate, with a price in the place of a bandwidth.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "traces/units.h"
#include "tuner/free/treatment.h"

namespace stowage {

// Memory in equal grains: few enough to be quick, and so large that what most blocks hold is close to a
// whole number of them.
struct Grains {
  Bytes grain;
  std::uint32_t count;  // as many as matter

  // Room for `bytes` and more; the last where there are not so many.
  std::uint32_t holding(Bytes bytes) const;
};

// For treatments of which at most `most` bytes are held at once. Cost: linear in `about`.
Grains choose_grains(const std::vector<std::vector<Treatment>>& by_end, Bytes most, std::uint32_t about);

// A treatment and what of it travels.
struct Treated {
  Treatment treatment;
  Bytes travels;
};

// Not shared between threads: reuses its memory.
class Relaxation {
 public:
  static constexpr double impossible = std::numeric_limits<double>::infinity();

  Relaxation(const std::vector<std::vector<Treatment>>& by_end, const Grains& grains);

  // Nanoseconds for a byte that travels; infinite: none does. With `room`, no step of a treatment may pass
  // it; without, blocks are limited by what is asked of value() alone. Cost: treatments times grains.
  void solve(double price, std::optional<Bytes> room);

  // V of the blocks before `blocks`, in nanoseconds; `impossible` where no treatments do.
  double value(std::uint32_t blocks, Bytes on_device) const;
  // Treatments that reach value(all blocks, on_device), which is possible. Not a plan yet: the bytes that
  // travel may be parts of tensors.
  std::vector<Treated> best(Bytes on_device) const;

 private:
  using Values = std::vector<double>;  // for each number of grains

  void apply(const Treatment& treatment, Bytes held, double cost, Bytes movable, Values& values);
  struct Choice;
  Choice choice_at(std::uint32_t end, std::uint32_t grains) const;
  std::optional<std::uint32_t> limit_of(const Treatment& treatment) const;

  const std::vector<std::vector<Treatment>>& by_end_;
  const Grains grains_;
  double price_ = 0;
  std::optional<Bytes> room_;
  std::vector<Values> values_;         // V_0 to V_n
  std::vector<std::uint32_t> window_;  // a queue of candidates for a moving least
};

}  // namespace stowage
