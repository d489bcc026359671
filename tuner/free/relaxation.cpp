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
    : by_end_(by_end), grains_(grains), values_(by_end.size() + 1), prefetched_(by_end.size() + 1) {
  for (auto* all : {&values_, &prefetched_})
    for (Values& values : *all) values.resize(grains.count + 1);
  window_.resize(grains.count + 1);
}

Bytes Rooms::beside(const Treatment& treatment) const {
  const Bytes weights = treatment.begin >= next_after ? device - next : device;
  return weights - std::max(resident + treatment.peak,
                            std::max(resident, treatment.weights) + treatment.peak_with_weights);
}

Bytes Rooms::beside_backward(const Treatment& treatment) const {
  const Bytes weights = treatment.begin >= next_after ? device - next : device;
  const Bytes with_weights = std::min(treatment.peak_with_weights, treatment.backward_peak);
  return weights - std::max(resident + treatment.backward_peak,
                            std::max(resident, treatment.weights) + with_weights);
}

// How much earlier blocks may hold, and what they cost at least since their returns must fit, too.
struct Relaxation::Limits {
  std::uint32_t before;
  double least;
};

// Absent: not even nothing.
std::optional<Relaxation::Limits> Relaxation::limits_of(const Treatment& treatment) const {
  if (!rooms_) return Limits{grains_.count, 0};
  const Bytes before = rooms_->beside(treatment);
  if (before < Bytes{}) return {};
  if (!rooms_->prefetched) return Limits{grains_.holding(before), 0};
  const std::uint32_t returns = grains_.holding(rooms_->beside_backward(treatment));
  return Limits{grains_.holding(before), prefetched_[treatment.begin][returns]};
}

// b grains, of which the treatment holds `held` less what travels: what is left for earlier blocks is
// rounded up to grains. With i grains for them at least (i - 1 - b) grains and `held` travel.
void Relaxation::apply(const Treatment& treatment, Bytes held, double cost, Bytes movable, Values& values) {
  const std::optional<Limits> limits = limits_of(treatment);
  if (!limits || limits->least == impossible) return;
  const auto limit = static_cast<std::int64_t>(limits->before);
  const auto before = [&](std::int64_t i) {
    return std::max(limits->least, values_[treatment.begin][static_cast<std::size_t>(i)]);
  };
  const auto grain = static_cast<double>(grains_.grain.value);
  const std::int64_t least = held.value / grains_.grain.value;
  const bool travels = movable > Bytes{} && std::isfinite(price_);
  const std::int64_t most =  // grains that travel, rounded up
      travels
          ? (movable.value - held.value % grains_.grain.value + grains_.grain.value - 1) / grains_.grain.value
          : 0;
  const auto priced = [&](std::int64_t i) {
    return before(i) + price_ * grain * static_cast<double>(i - 1);
  };
  std::size_t first = 0, last = 0;  // of the window
  std::int64_t taken = 0;           // into the window, up to here
  for (std::int64_t b = 0; b <= grains_.count; ++b) {
    const std::int64_t rest = b - least;
    double best = impossible;
    if (rest >= 0) best = before(std::min(rest, limit));
    if (travels && rest < limit) {
      const std::int64_t top = std::min(rest + most, limit);
      const std::int64_t bottom = std::max<std::int64_t>(rest + 1, 0);
      for (taken = std::max(taken, bottom); taken <= top; ++taken) {
        while (last > first && priced(window_[last - 1]) >= priced(taken)) --last;
        window_[last++] = static_cast<std::uint32_t>(taken);
      }
      while (first < last && window_[first] < bottom) ++first;
      if (first < last) {
        const double offset = price_ * (static_cast<double>(held.value) - static_cast<double>(b) * grain);
        best = std::min(best, std::max(0.0, priced(window_[first]) + offset));
      }
    }
    values[static_cast<std::size_t>(b)] = std::min(values[static_cast<std::size_t>(b)], best + cost);
  }
}

// What stays is with what comes back before; what travels has come back, in the room of what it held.
void Relaxation::apply_prefetched(const Treatment& treatment, Values& values) const {
  const std::optional<Limits> limits = limits_of(treatment);
  if (!limits || limits->least == impossible) return;
  const auto cost = static_cast<double>(treatment.cost.value);
  const std::uint32_t returns = grains_.holding(rooms_->beside_backward(treatment));
  const bool travels = treatment.movable > Bytes{} && std::isfinite(price_);
  const double fee = treatment.whole() ? price_ * static_cast<double>(treatment.held.value) : 0;
  const Values &stay = prefetched_[treatment.begin], &raw = values_[treatment.begin];
  const auto held = static_cast<std::size_t>(treatment.held.value / grains_.grain.value);
  for (std::size_t b = held; b < values.size(); ++b) {
    const std::size_t rest = b - held;
    double best = std::max(stay[std::min<std::size_t>(rest, returns)], raw[limits->before]);
    if (travels)
      best = std::min(
          best, std::max(raw[std::min<std::size_t>(rest, limits->before)], limits->least) + fee);
    values[b] = std::min(values[b], best + cost);
  }
}

void Relaxation::solve(double price, const std::optional<Rooms>& rooms) {
  price_ = price;
  rooms_ = rooms;
  const bool prefetched = rooms && rooms->prefetched;
  std::fill(values_[0].begin(), values_[0].end(), 0.0);
  std::fill(prefetched_[0].begin(), prefetched_[0].end(), 0.0);
  for (std::size_t end = 1; end < values_.size(); ++end) {
    Values &values = values_[end], &with_returns = prefetched_[end];
    std::fill(values.begin(), values.end(), impossible);
    if (prefetched) std::fill(with_returns.begin(), with_returns.end(), impossible);
    for (const Treatment& treatment : by_end_[end - 1]) {
      const auto cost = static_cast<double>(treatment.cost.value);
      apply(treatment, treatment.held, cost, treatment.whole() ? Bytes{} : treatment.movable, values);
      if (treatment.whole() && std::isfinite(price_))  // its input is one tensor: all of it or nothing
        apply(treatment, {}, cost + price_ * static_cast<double>(treatment.held.value), {}, values);
      if (prefetched) apply_prefetched(treatment, with_returns);
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
  const auto offer = [&](const Treatment& treatment, std::int64_t left, Bytes travels) {
    const double value = static_cast<double>(treatment.cost.value) +
                         (travels > Bytes{} ? price_ * static_cast<double>(travels.value) : 0) +
                         values_[treatment.begin][static_cast<std::size_t>(left)];
    if (value < best.value) best = {{treatment, travels}, static_cast<std::uint32_t>(left), value};
  };
  for (const Treatment& treatment : by_end_[end - 1]) {
    const std::optional<Limits> limits = limits_of(treatment);
    if (!limits) continue;
    const auto limit = static_cast<std::int64_t>(limits->before);
    const std::int64_t rest = b - treatment.held.value / grains_.grain.value;
    if (rest >= 0) offer(treatment, std::min(rest, limit), {});
    if (!std::isfinite(price_)) continue;
    if (treatment.whole()) {
      offer(treatment, std::min<std::int64_t>(b, limit), treatment.held);
      continue;
    }
    for (std::int64_t left = std::max<std::int64_t>(rest + 1, 0); left <= limit; ++left) {
      const Bytes travels{std::max<std::int64_t>(
          0, (left - 1 - static_cast<std::int64_t>(b)) * grains_.grain.value + treatment.held.value)};
      if (travels > treatment.movable) break;
      offer(treatment, left, travels);
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
