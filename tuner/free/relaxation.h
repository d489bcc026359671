// The least that recomputation and copies cost together, if every byte copied has a price and copies are
// always in time.
//
// A dynamic programme over the chain. V_j(b) is the least cost of blocks before j if at most b of their bytes
// are on the device while later blocks run backward:
//
//   V_0(b) = 0        V_j(b) = min over treatments t that end with block j-1, and bytes x of it that travel:
//                              cost_t + price x + V_begin( min(room - peak_t, b - held_t + x) )
//
// Where what comes back is prefetched, b may have to hold, beside what stays of the blocks before j, what
// comes back of the nearest of them: V'_j(b) is the least cost then, and both hold of the blocks before t:
//
//   V'_j(b) = min over t: cost_t + V'_begin( min(room - peak_t, b - held_t) )                     x = 0
//                         cost_t + max( V_begin(b - held_t), V'_begin(room - peak_t) )            x > 0
//   V_j(b)  = as above, but no less than V'_begin(room - peak_t)
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

// What there is on the device for weights, activations and what belongs to a pass, and what is there whatever
// is done with activations.
struct Rooms {
  Bytes device;
  Bytes resident = {};  // weights that stay
  // Weights of the block that is used next, while those treatments run that begin at `next_after` or later.
  Bytes next = {};
  std::uint32_t next_after = 0;
  // What comes back is there, and has its room, while the block that comes back before it is in use.
  bool prefetched = false;

  // What is left for blocks before a treatment in steps of which the highest takes `peak`. Below zero: none.
  Bytes beside(const Treatment& treatment, Bytes peak) const;
};

// A treatment and what of it travels.
struct Treated {
  Treatment treatment;
  Bytes travels;
  std::optional<Travel> which;  // absent: any tensors of so many bytes
};

// What has a price: a byte that travels, or one that it takes on the host once it is pinned.
enum class Priced : std::uint8_t { copied, pinned };

// Not shared between threads: reuses its memory.
class Relaxation {
 public:
  static constexpr double impossible = std::numeric_limits<double>::infinity();

  Relaxation(const std::vector<std::vector<Treatment>>& by_end, const Grains& grains);

  // Nanoseconds for a byte, finite. With `rooms`, no step of a treatment may pass them; without, blocks are
  // limited by what is asked of value() alone. Cost: treatments, and ways in which they travel, times grains.
  void solve(double price, const std::optional<Rooms>& rooms, Priced priced = Priced::copied);

  // Of the blocks before `blocks`, in nanoseconds: V', where solved for what is prefetched, or else V;
  // `impossible` where no treatments do.
  double value(std::uint32_t blocks, Bytes on_device) const;
  // Treatments that reach value(all blocks, on_device), which is possible, as solved by bytes that are copied
  // and not prefetched. Not a plan yet: the bytes that travel may be parts of tensors.
  std::vector<Treated> best(Bytes on_device) const;

 private:
  using Values = std::vector<double>;  // for each number of grains

  struct Limits;
  std::optional<Limits> limits_of(const Treatment& treatment) const;
  double charge_of(const Travel& travel) const;
  void apply_whole(const Treatment& treatment, const Limits& limits, Bytes held, double cost, Values& values);
  void apply_parts(const Treatment& treatment, const Limits& limits, Values& values);
  void apply_prefetched(const Treatment& treatment, const Limits& limits, Values& values) const;
  struct Choice;
  Choice choice_at(std::uint32_t end, std::uint32_t grains) const;

  const std::vector<std::vector<Treatment>>& by_end_;
  const Grains grains_;
  double price_ = 0;
  Priced priced_ = Priced::copied;
  std::optional<Rooms> rooms_;
  std::vector<Values> values_;         // V_0 to V_n
  std::vector<Values> prefetched_;     // V'_0 to V'_n; none until they are asked for
  std::vector<std::uint32_t> window_;  // a queue of candidates for a moving least
};

}  // namespace stowage
