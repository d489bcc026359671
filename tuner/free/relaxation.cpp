#include "tuner/free/relaxation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "traces/error.h"

namespace stowage {

std::uint32_t Grains::holding(Bytes bytes) const {
  if (bytes <= Bytes{}) return 0;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(count, (bytes.value - 1) / grain.value + 1));
}

// Each block that is held costs the rest of a division. The sum of the rests is what is lost.
Grains choose_grains(const std::vector<std::vector<Treatment>>& by_end, Bytes most, std::uint32_t about) {
  std::map<std::int64_t, std::int64_t> held;  // how often
  for (const auto& treatments : by_end)
    for (const Treatment& treatment : treatments)
      if (treatment.end - treatment.begin == 1) ++held[treatment.held.value];
  const std::int64_t whole = std::max<std::int64_t>(1, most.value);
  const auto grain_of = [&](std::int64_t count) { return (whole - 1) / count + 1; };
  const auto loss_of = [&](std::int64_t grain) {
    double loss = 0;
    for (const auto& [bytes, times] : held)
      loss += static_cast<double>(bytes % grain) * static_cast<double>(times);
    return loss + static_cast<double>(grain);
  };
  std::int64_t best = grain_of(about);
  const bool few = held.size() <= 64;
  for (std::int64_t count = about * 2 / 3; few && count < about; ++count)
    if (loss_of(grain_of(count)) < loss_of(best)) best = grain_of(count);
  return {Bytes{best}, static_cast<std::uint32_t>((whole - 1) / best + 1)};
}

Relaxation::Relaxation(const std::vector<std::vector<Treatment>>& by_end, const Grains& grains)
    : by_end_(by_end), grains_(grains), values_(by_end.size() + 1, Values(grains.count + 1)) {
  window_.resize(grains.count + 1);
}

Bytes Rooms::beside(const Treatment& treatment, Bytes peak) const {
  const Bytes there = treatment.begin >= next_after ? resident + next : resident;
  const Bytes loaded = std::max(Bytes{}, treatment.weights - resident);
  return device - there - std::max(peak, loaded + std::min(peak, treatment.peak_with_weights));
}

// How much earlier blocks may hold: at any time, and with their returns. `least`: what they cost then.
struct Relaxation::Limits {
  std::uint32_t before, returns;
  double least;
};

// Absent: no earlier blocks do.
std::optional<Relaxation::Limits> Relaxation::limits_of(const Treatment& treatment) const {
  if (!rooms_) return Limits{grains_.count, 0, 0};
  const Bytes before = rooms_->beside(treatment, treatment.peak);
  if (before < Bytes{}) return {};
  if (!rooms_->prefetched) return Limits{grains_.holding(before), 0, 0};
  const std::uint32_t returns = grains_.holding(rooms_->beside(treatment, treatment.backward_peak));
  const double least = prefetched_[treatment.begin][returns];
  if (least == impossible) return {};
  return Limits{grains_.holding(before), returns, least};
}

double Relaxation::charge_of(const Travel& travel) const {
  return price_ * static_cast<double>((priced_ == Priced::copied ? travel.bytes : travel.pinned).value);
}

// b grains, of which the treatment holds `held`.
void Relaxation::apply_whole(const Treatment& treatment, const Limits& limits, Bytes held, double cost,
                             Values& values) {
  const Values& before = values_[treatment.begin];
  const auto least = static_cast<std::size_t>(held.value / grains_.grain.value);
  for (std::size_t b = least; b < values.size(); ++b) {
    const double now = before[std::min<std::size_t>(b - least, limits.before)];
    values[b] = std::min(values[b], std::max(limits.least, now) + cost);
  }
}

// b grains, of which the treatment holds what does not travel: what is left for earlier blocks is rounded up
// to grains. With i grains for them at least (i - 1 - b) grains and what it holds travel.
void Relaxation::apply_parts(const Treatment& treatment, const Limits& limits, Values& values) {
  const auto limit = static_cast<std::int64_t>(limits.before);
  const double price = priced_ == Priced::copied ? price_ : price_ * treatment.pinned_by_byte;
  const auto grain = static_cast<double>(grains_.grain.value);
  const auto held = static_cast<double>(treatment.held.value);
  const std::int64_t least = treatment.held.value / grains_.grain.value;
  const std::int64_t rest_of_grain = treatment.held.value % grains_.grain.value;
  const std::int64_t most =  // grains that travel, rounded up
      (treatment.movable.value - rest_of_grain + grains_.grain.value - 1) / grains_.grain.value;
  const auto priced = [&](std::int64_t i) {
    return std::max(limits.least, values_[treatment.begin][static_cast<std::size_t>(i)]) +
           price * grain * static_cast<double>(i - 1);
  };
  std::size_t first = 0, last = 0;  // of the window
  std::int64_t taken = 0;           // into the window, up to here
  for (std::int64_t b = 0; b <= grains_.count; ++b) {
    const std::int64_t rest = b - least;
    if (rest >= limit) break;
    const std::int64_t top = std::min(rest + most, limit);
    const std::int64_t bottom = std::max<std::int64_t>(rest + 1, 0);
    for (taken = std::max(taken, bottom); taken <= top; ++taken) {
      while (last > first && priced(window_[last - 1]) >= priced(taken)) --last;
      window_[last++] = static_cast<std::uint32_t>(taken);
    }
    while (first < last && window_[first] < bottom) ++first;
    if (first == last) continue;
    const double offset = price * (held - static_cast<double>(b) * grain);
    const double best = std::max(0.0, priced(window_[first]) + offset);
    double& value = values[static_cast<std::size_t>(b)];
    value = std::min(value, best + static_cast<double>(treatment.cost.value));
  }
}

// What stays is with what comes back before; what travels has come back, in the room of what it held.
void Relaxation::apply_prefetched(const Treatment& treatment, const Limits& limits, Values& values) const {
  const Values &stays = prefetched_[treatment.begin], &any = values_[treatment.begin];
  double charge = treatment.divisible() ? 0 : impossible;  // at least
  for (const Travel& travel : treatment.travels) charge = std::min(charge, charge_of(travel));
  const auto cost = static_cast<double>(treatment.cost.value);
  const auto held = static_cast<std::size_t>(treatment.held.value / grains_.grain.value);
  for (std::size_t b = held; b < values.size(); ++b) {
    const std::size_t rest = b - held;
    const double without = std::max(stays[std::min<std::size_t>(rest, limits.returns)], any[limits.before]);
    const double with = std::max(any[std::min<std::size_t>(rest, limits.before)], limits.least) + charge;
    values[b] = std::min(values[b], std::min(without, with) + cost);
  }
}

void Relaxation::solve(double price, const std::optional<Rooms>& rooms, Priced priced) {
  price_ = price;
  rooms_ = rooms;
  priced_ = priced;
  const bool prefetched = rooms && rooms->prefetched;
  if (prefetched) prefetched_.resize(values_.size(), Values(grains_.count + 1));
  for (std::size_t end = 1; end < values_.size(); ++end) {
    Values& values = values_[end];
    std::fill(values.begin(), values.end(), impossible);
    if (prefetched) std::fill(prefetched_[end].begin(), prefetched_[end].end(), impossible);
    for (const Treatment& treatment : by_end_[end - 1]) {
      const std::optional<Limits> limits = limits_of(treatment);
      if (!limits) continue;
      const auto cost = static_cast<double>(treatment.cost.value);
      apply_whole(treatment, *limits, treatment.held, cost, values);
      for (const Travel& travel : treatment.travels)
        apply_whole(treatment, *limits, treatment.held - travel.bytes, cost + charge_of(travel), values);
      if (treatment.divisible()) apply_parts(treatment, *limits, values);
      if (prefetched) apply_prefetched(treatment, *limits, prefetched_[end]);
    }
  }
}

double Relaxation::value(std::uint32_t blocks, Bytes on_device) const {
  if (on_device < Bytes{}) return impossible;
  const auto& values = rooms_ && rooms_->prefetched ? prefetched_ : values_;
  return values[blocks][grains_.holding(on_device)];
}

struct Relaxation::Choice {
  Treated treated;
  std::uint32_t left = 0;  // grains for the blocks before
  double value = impossible;
};

Relaxation::Choice Relaxation::choice_at(std::uint32_t end, std::uint32_t b) const {
  Choice best;
  for (const Treatment& treatment : by_end_[end - 1]) {
    const std::optional<Limits> limits = limits_of(treatment);
    if (!limits) continue;
    const auto offer = [&](std::int64_t left, double charge, Bytes travels, const Travel* which) {
      if (left < 0) return;
      const auto grains = static_cast<std::uint32_t>(std::min<std::int64_t>(left, limits->before));
      const double value =
          static_cast<double>(treatment.cost.value) + charge + values_[treatment.begin][grains];
      if (value >= best.value) return;
      best = {{treatment, travels, {}}, grains, value};
      if (which) best.treated.which = *which;
    };
    const auto rest_with = [&](Bytes held) { return b - held.value / grains_.grain.value; };
    const std::int64_t rest = rest_with(treatment.held);
    offer(rest, 0, {}, nullptr);
    for (const Travel& travel : treatment.travels)
      offer(rest_with(treatment.held - travel.bytes), charge_of(travel), travel.bytes, &travel);
    if (!treatment.divisible()) continue;
    for (std::int64_t left = std::max<std::int64_t>(rest + 1, 0); left <= limits->before; ++left) {
      const Bytes travels{std::max<std::int64_t>(
          0, (left - 1 - static_cast<std::int64_t>(b)) * grains_.grain.value + treatment.held.value)};
      if (travels > treatment.movable) break;
      offer(left, price_ * static_cast<double>(travels.value), travels, nullptr);
    }
  }
  return best;
}

std::vector<Treated> Relaxation::best(Bytes on_device) const {
  std::vector<Treated> backwards;
  std::uint32_t grains = grains_.holding(on_device);
  for (auto end = static_cast<std::uint32_t>(by_end_.size()); end > 0;) {
    const Choice choice = choice_at(end, grains);
    if (choice.value == impossible) throw DefectError("no treatments reach a value that was found");
    backwards.push_back(choice.treated);
    grains = choice.left;
    end = choice.treated.treatment.begin;
  }
  return {backwards.rbegin(), backwards.rend()};
}

}  // namespace stowage
