#include "tuner/search.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "tuner/parallel.h"
#include "tuner/pricer.h"
#include "tuner/sweep.h"

namespace stowage {
namespace {

constexpr std::uint32_t shapes_a_round = 64;  // many enough for all threads, few enough to learn from

Bound figures_of(const Run& run) {
  return {run.step, run.peaks.device_reserved};
}

class Search {
 public:
  Search(const Field& field, const TuneRequest& request)
      : field_(field), request_(request), shape_count_(static_cast<std::uint32_t>(field.shapes.size())) {
    for (unsigned worker = 0; worker < request.threads; ++worker) {
      sweeps_.emplace_back(field, request.budget);
      pricers_.emplace_back(field.table, field.machine);
    }
  }

  Found run() {
    const std::vector<Standing> sketched = sketch_all();
    for (const Sweep& sweep : sweeps_) found_.considered += sweep.considered();
    if (!price(sketched) && found_.complete) price_what_sketches_leave();
    return std::move(found_);
  }

 private:
  // A candidate with what the simulator says.
  using Priced = std::pair<Standing, Run>;

  bool go_on(std::int64_t done, std::int64_t total) const {
    return !request_.progress || request_.progress({done, total, fastest()});
  }
  std::optional<Nanos> fastest() const;
  std::vector<Standing> sketch_all();
  bool price(const std::vector<Standing>& sketched);
  void price_what_sketches_leave();
  std::vector<Priced> price_shape(unsigned worker, std::uint32_t shape);

  const Field& field_;
  const TuneRequest& request_;
  const std::uint32_t shape_count_;
  std::deque<Sweep> sweeps_;  // one a worker
  std::deque<Pricer> pricers_;
  Found found_;
};

std::optional<Nanos> Search::fastest() const {
  std::optional<Nanos> fastest;
  for (const Standing& point : found_.frontier.points())
    if (point.figures.peak <= request_.budget.device) fastest = point.figures.step;
  return fastest;
}

// What a sketch looks at depends on what is already known to be better, so this goes in rounds, each against
// the frontier as the round before left it: the answer, and how much of the space it took, do not depend on
// the number of threads.
std::vector<Standing> Search::sketch_all() {
  Frontier all;
  const auto take_sketch = [](const Standing& sketch) { return sketch.figures; };
  std::uint32_t size = 1;  // at first there is most to learn
  for (std::uint32_t begin = 0; begin < shape_count_ && found_.complete; begin += size) {
    size = std::min({std::max(1U, begin), shapes_a_round, shape_count_ - begin});
    std::vector<Frontier> round(size, all);
    found_.complete = in_parallel(
        request_.threads, static_cast<std::uint32_t>(round.size()),
        [&](unsigned worker, std::uint32_t i) { sweeps_[worker].over(begin + i, round[i], take_sketch); },
        [&](std::uint32_t begun) { return go_on(begin + begun, shape_count_); });
    for (const Frontier& frontier : round)
      for (const Standing& point : frontier.points()) all.offer(point);
  }
  return all.points();
}

// Whether each price is what the sketch says.
bool Search::price(const std::vector<Standing>& sketched) {
  const auto count = static_cast<std::uint32_t>(sketched.size());
  std::vector<Run> runs(count);
  in_parallel(
      request_.threads, count,
      [&](unsigned worker, std::uint32_t i) {
        runs[i] = pricers_[worker].price(field_.settings_of(sketched[i].candidate));
      },
      [](std::uint32_t) { return true; });
  const Run null_run = pricers_.front().price({});
  found_.runs[keep_everything] = null_run;
  found_.frontier.offer({figures_of(null_run), {}, keep_everything});
  bool exact = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& [figures, host, candidate] = sketched[i];
    found_.runs[candidate] = runs[i];
    found_.frontier.offer({figures_of(runs[i]), host, candidate});
    exact = exact && figures.step == runs[i].step && figures.peak == runs[i].peaks.device_reserved;
  }
  return exact;
}

// In rounds, as sketch_all().
void Search::price_what_sketches_leave() {
  for (std::uint32_t begin = 0; begin < shape_count_ && found_.complete; begin += shapes_a_round) {
    std::vector<std::vector<Priced>> round(std::min(shapes_a_round, shape_count_ - begin));
    found_.complete = in_parallel(
        request_.threads, static_cast<std::uint32_t>(round.size()),
        [&](unsigned worker, std::uint32_t i) { round[i] = price_shape(worker, begin + i); },
        [&](std::uint32_t begun) { return go_on(begin + begun, shape_count_); });
    for (const std::vector<Priced>& of_shape : round) {
      for (const auto& [standing, run] : of_shape) {
        found_.runs[standing.candidate] = run;
        found_.frontier.offer(standing);
      }
    }
  }
}

std::vector<Search::Priced> Search::price_shape(unsigned worker, std::uint32_t shape) {
  std::vector<Priced> priced;
  Frontier frontier = found_.frontier;
  const auto price = [&](const Standing& at_least) {
    const auto known = found_.runs.find(at_least.candidate);
    if (known != found_.runs.end()) return figures_of(known->second);
    const Run run = pricers_[worker].price(field_.settings_of(at_least.candidate));
    priced.push_back({{figures_of(run), at_least.host, at_least.candidate}, run});
    return figures_of(run);
  };
  sweeps_[worker].over(shape, frontier, price);
  return priced;
}

}  // namespace

Found search(const Field& field, const TuneRequest& request) {
  return Search(field, request).run();
}

}  // namespace stowage
