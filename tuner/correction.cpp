#include "tuner/correction.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "traces/error.h"
#include "tuner/middle.h"
#include "tuner/pricer.h"

namespace stowage {
namespace {

constexpr std::int64_t paying_share = 50;       // of a step
constexpr std::int64_t noticeable_share = 100;  // of a step or a peak

std::vector<Nanos> steps_of(const std::vector<Timeline>& timelines) {
  std::vector<Nanos> steps;
  for (const Timeline& timeline : timelines) steps.push_back(timeline.step);
  return steps;
}

// A setting, and how the rest would be without it.
struct Removal {
  Settings only, rest;
};

void remove(const Settings& settings, const std::function<void(Settings& only, Settings& rest)>& move,
            std::vector<Removal>& removals) {
  Removal removal{{}, settings};
  move(removal.only, removal.rest);
  if (!(removal.rest == settings)) removals.push_back(std::move(removal));
}

// In the words of describe(), without what the rest keeps by default.
std::string name_of(const Removal& removal) {
  const std::string text = describe(removal.only), kept = "keep, ";
  return text.starts_with(kept) ? text.substr(kept.size()) : text;
}

std::vector<Removal> removals_of(const Settings& settings) {
  std::vector<Removal> removals;
  remove(
      settings,
      [](Settings& only, Settings& rest) {
        std::swap(rest.policy, only.policy);
        std::swap(rest.interval, only.interval);
        std::swap(rest.stride, only.stride);
        std::swap(rest.segmenting, only.segmenting);
        std::swap(rest.scope, only.scope);
      },
      removals);
  remove(
      settings, [](Settings& only, Settings& rest) { std::swap(rest.swap, only.swap); }, removals);
  remove(
      settings,
      [](Settings& only, Settings& rest) { std::swap(rest.transfer.prefetch, only.transfer.prefetch); },
      removals);
  remove(
      settings, [](Settings& only, Settings& rest) { std::swap(rest.step.optimizer, only.step.optimizer); },
      removals);
  // Some settings say nothing, or contradict, without another.
  std::erase_if(removals, [](const Removal& removal) {
    try {
      check(removal.rest);
      return false;
    } catch (const InputError&) {
      return true;
    }
  });
  return removals;
}

// What a setting was to do to one figure, and what of it was seen.
class Effect {
 public:
  Effect(std::int64_t with, std::int64_t without, std::int64_t measured, std::int64_t noise)
      : expected_(std::abs(with - without)),
        seen_(std::abs(measured - without)),
        least_(std::max(noise, without / noticeable_share)) {}

  bool expected() const { return expected_ > least_; }
  bool missing() const {
    return expected() && seen_ <= std::max(least_, expected_ / 10) && 2 * seen_ < expected_;
  }

 private:
  std::int64_t expected_, seen_, least_;
};

Bytes measured_peak(const Observation& seen) {
  Bytes most;
  for (const Timeline& timeline : seen.measured) most = std::max(most, peak(timeline.memory.device));
  return most;
}

}  // namespace

Nanos Observation::step() const {
  return middle_of(steps_of(measured));
}

Nanos Observation::spread() const {
  const std::vector<Nanos> steps = steps_of(measured);
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  return *most - *least;
}

Correction correct(const Figures& figures, const Plan& plan, const Observation& seen,
                   const TuneRequest& request) {
  Correction correction{refit(figures, seen.predicted, seen.measured), {}, {}};
  const Figures& now = correction.refit.figures;
  const BlockTable table(now.profile);
  correction.now = Pricer(table, now.machine).price(plan);
  TuneResult result = tune(table, now.machine, request);
  const Nanos paying = std::max(seen.spread(), Nanos{correction.now.step.value / paying_share});
  if (result.best && result.best->run.step + paying < correction.now.step)
    correction.better = std::move(result.best);
  return correction;
}

std::vector<Inert> without_effect(const Figures& figures, const Settings& settings, const Observation& seen) {
  const BlockTable table(figures.profile);
  Pricer pricer(table, figures.machine);
  std::vector<Inert> inert;
  const Run with = pricer.price(settings);
  for (const Removal& removal : removals_of(settings)) {
    const Run without = pricer.price(removal.rest);
    const Effect memory(with.peaks.device.value, without.peaks.device.value, measured_peak(seen).value, 0);
    const Effect time(with.step.value, without.step.value, seen.step().value, seen.spread().value);
    const bool seen_any = (memory.expected() && !memory.missing()) || (time.expected() && !time.missing());
    if (!seen_any && (memory.expected() || time.expected()))
      inert.push_back({name_of(removal), with, without});
  }
  return inert;
}

}  // namespace stowage
