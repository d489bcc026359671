#include "tuner/free/views.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tuner/copy_costs.h"
#include "tuner/settings_space.h"

namespace stowage {
namespace {

double of(Nanos nanos) {
  return static_cast<double>(nanos.value);
}
double of(Bytes bytes) {
  return static_cast<double>(bytes.value);
}

// The least time a byte of any copy takes.
double least_by_byte(const CopyCosts& costs, Nanos Cargo::*time) {
  double least = 0;
  bool any = false;
  for (const auto* cargos : {&costs.weights, &costs.inputs, &costs.storages})
    for (const Cargo& cargo : *cargos) {
      if (cargo.bytes == Bytes{}) continue;
      const double now = of(cargo.*time) / of(cargo.bytes);
      least = any ? std::min(least, now) : now;
      any = true;
    }
  return least;
}

// What a byte takes once it is pinned.
double pinned_by_byte(const Cargo& cargo) {
  return of(cargo.pinned) / of(cargo.bytes);
}

double most_pinned_by_byte(const CopyCosts& costs) {
  double most = 1;
  for (const auto* cargos : {&costs.inputs, &costs.storages})
    for (const Cargo& cargo : *cargos)
      if (cargo.bytes > Bytes{}) most = std::max(most, pinned_by_byte(cargo));
  return most;
}

// The weights of the lightest block that has any, and of the next.
std::pair<Bytes, Bytes> lightest(const BlockTable& table) {
  constexpr Bytes none{std::numeric_limits<std::int64_t>::max()};
  std::pair<Bytes, Bytes> two{none, none};
  for (const BlockRow& row : table.rows) {
    const Bytes weight = row.sizes.weight;
    if (weight == Bytes{}) continue;
    if (weight < two.first)
      two = {weight, two.first};
    else if (weight < two.second)
      two.second = weight;
  }
  return {two.first == none ? Bytes{} : two.first, two.second == none ? Bytes{} : two.second};
}

}  // namespace

Views::Views(const BlockTable& table, const Machine& machine) {
  const CopyCosts costs(table, machine);
  load_ = least_by_byte(costs, &Cargo::restore);
  store_ = least_by_byte(costs, &Cargo::store);
  slowdown_ = costs.slowdown;
  held_by_pageable_ = 2e9 / static_cast<double>(machine.links.pageable.bytes_per_second) * (1 - slowdown_) /
                      most_pinned_by_byte(costs);
  for (const Cargo& cargo : costs.weights)
    if (cargo.bytes > Bytes{}) pinned_weight_ = std::min(pinned_weight_, pinned_by_byte(cargo));
  before_ = of(table.fixed.prologue);
  first_forward_ = before_ + of(table.rows.front().forward);
  last_forward_ = of(table.rows.back().forward);
  epilogue_ = of(table.fixed.epilogue);
  after_ = of(table.fixed.optimizer);
  last_backward_ = after_ + of(table.rows.front().backward);
  for (const BlockRow& row : table.rows) {
    before_ += of(row.forward);
    after_ += of(row.backward);
    heaviest_ = std::max(heaviest_, row.sizes.weight);
    if (row.sizes.weight > Bytes{} && is_frozen(row)) all_change_ = false;
  }
  if (!table.layers.empty()) return;
  const auto quick = [&](Bytes weight) { return of(weight) * load_ <= before_ - last_forward_; };
  const auto [one, two] = lightest(table);
  if (quick(one)) lightest_ = one;
  if (quick(two)) second_lightest_ = two;
}

// What the simulator may round away of a loss.
constexpr double rounding = 2;

// Before: `before` of compute, loads of what was used since, stores of what has left. After: the rest of the
// compute, and all that is away comes back, to be used: whatever is last, the first block's backward and the
// optimizer come after it.
std::vector<TimePiece> Views::split(Bytes away, double before, double after, Next next) const {
  const double weights = of(away), changed = all_change_ ? weights : 0;
  const double stored_before = changed * store_;
  double loaded_before = 0, loaded_after = 0;
  if (away > Bytes{}) {
    const bool stays = next == Next::its_backward;
    loaded_before = of(away + lightest_ + (stays ? second_lightest_ : Bytes{})) * load_ + last_forward_;
    loaded_after = of(away + (stays ? Bytes{} : lightest_)) * load_;
  }
  const std::vector<TimePiece> first{
      {before, 0, 0}, {loaded_before, 0, 0}, {first_forward_ + stored_before, store_, 0}};
  const std::vector<TimePiece> second{
      {after, 0, 1}, {loaded_after + last_backward_, load_, 0}, {changed * store_, 0, 0}};
  std::vector<TimePiece> pieces;
  for (const TimePiece& a : first)
    for (const TimePiece& b : second)
      pieces.push_back({a.fixed + b.fixed, a.by_byte + b.by_byte, a.by_recompute + b.by_recompute});
  if (slowdown_ > 0)
    pieces.push_back({before + after - rounding + slowdown_ * 2 * weights * load_, slowdown_ * load_, 1});
  return pieces;
}

std::vector<TimePiece> Views::at_epilogue(Bytes away, Next next) const {
  return split(away, before_, epilogue_ + after_, next);
}

std::vector<TimePiece> Views::at_first_backward(Bytes away, Next next) const {
  return split(away, before_ + epilogue_, after_, next);
}

// Each block is loaded for its forward and its backward, but for one whose two uses follow one another.
std::vector<TimePiece> Views::over_step(Bytes away, bool prefetched) const {
  const double loads = std::max(0.0, 2 * of(away) - of(heaviest_));
  if (!prefetched) return {{compute() + loads * load_, load_, 1}};
  const double stores = all_change_ ? loads : 0;
  return {{compute(), 0, 1},
          {compute() - rounding + slowdown_ * loads * load_, slowdown_ * load_, 1},
          {loads * load_ + last_backward_, load_, 0},
          {first_forward_ + stores * store_, store_, 0},
          {before_, load_, 0}};
}

}  // namespace stowage
