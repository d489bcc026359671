#include "tuner/refinement.h"

#include <algorithm>
#include <utility>

#include "tuner/choices.h"
#include "tuner/copy_costs.h"
#include "tuner/pricer.h"

namespace stowage {
namespace {

class Refinement {
 public:
  Refinement(const BlockTable& table, const Machine& machine, const TuneRequest& request, Refined start)
      : table_(table),
        budget_(all_pinned(request.budget, machine)),
        most_swapped_(most_swapped(table, request.space)),
        costs_(table, machine),
        pricer_(table, machine),
        best_(std::move(start)) {}

  Refined run() {
    for (std::int64_t by = std::max(1U, table_.size() / 4); by > 0;)
      if (!change_one(by)) by /= 2;
    return std::move(best_);
  }

 private:
  // Whether some value is better so much higher or lower.
  bool change_one(std::int64_t by) {
    bool better = false;
    for (std::int64_t change : {by, -by}) {
      if (best_.settings.policy != Policy::keep) {  // else they say nothing
        better = try_with([&](Settings& s) { s.interval += change; }) || better;
        better = try_with([&](Settings& s) { s.stride = s.stride.value_or(s.interval) + change; }) || better;
      }
      better = try_with([&](Settings& s) { s.swap.blocks += change; }) || better;
    }
    return better;
  }

  template <class Change>
  bool try_with(const Change& change) {
    Settings settings = best_.settings;
    change(settings);
    if (!expressible(settings)) return false;
    if (settings.swap.blocks > 0) settings.swap = choose_swap(table_, costs_, settings.swap).settings;
    const Run run = pricer_.price(settings);
    ++best_.evaluated;
    const auto merit = [](const Run& of) { return std::pair(of.step, of.peaks.on_device()); };
    if (!fits(run.peaks, budget_) || merit(run) >= merit(best_.run)) return false;
    best_.settings = settings;
    best_.run = run;
    return true;
  }

  bool expressible(const Settings& s) const {
    const std::int64_t stride = s.stride.value_or(s.interval);
    return s.interval >= 1 && stride >= s.interval && stride <= table_.size() && s.swap.blocks >= 0 &&
           s.swap.blocks <= most_swapped_;
  }

  const BlockTable& table_;
  const Budget budget_;
  const std::int64_t most_swapped_;
  const CopyCosts costs_;
  Pricer pricer_;
  Refined best_;
};

}  // namespace

Refined refine(const BlockTable& table, const Machine& machine, const TuneRequest& request,
               const Settings& settings, const Run& run) {
  return Refinement(table, machine, request, {settings, run}).run();
}

}  // namespace stowage
