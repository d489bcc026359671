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
  return {run.step, run.peaks.on_device()};
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
  // Works on each shape, in rounds of which the first has `first` shapes, and takes the results of a round
  // when all are there. So a shape sees what earlier rounds found and nothing of its own: neither the answer
  // nor how much of the space it took depends on the number of threads.
  template <class Result, class Work, class Take>
  void in_rounds(std::uint32_t first, const Work& work, const Take& take);
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

template <class Result, class Work, class Take>
void Search::in_rounds(std::uint32_t first, const Work& work, const Take& take) {
  std::uint32_t size = 0;
  for (std::uint32_t begin = 0; begin < shape_count_ && found_.complete; begin += size) {
    size = std::min({std::max(first, begin), shapes_a_round, shape_count_ - begin});
    std::vector<Result> round(size);
    found_.complete = in_parallel(
        request_.threads, size, [&](unsigned worker, std::uint32_t i) { round[i] = work(worker, begin + i); },
        [&](std::uint32_t begun) { return go_on(begin + begun, shape_count_); });
    for (const Result& result : round) take(result);
  }
}

// What a sketch looks at depends on what is already known to be better, and at first there is most to learn.
std::vector<Standing> Search::sketch_all() {
  Frontier all;
  const auto take_sketch = [](const Standing& sketch) { return sketch.figures; };
  in_rounds<Frontier>(
      1,
      [&](unsigned worker, std::uint32_t shape) {
        Frontier frontier = all;
        sweeps_[worker].over(shape, frontier, take_sketch);
        return frontier;
      },
      [&](const Frontier& frontier) {
        for (const Standing& point : frontier.points()) all.offer(point);
      });
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
  const Run null_run = pricers_.front().price(Settings{});
  found_.runs[keep_everything] = null_run;
  found_.frontier.offer({figures_of(null_run), {}, keep_everything});
  bool exact = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& [figures, host, candidate] = sketched[i];
    found_.runs[candidate] = runs[i];
    found_.frontier.offer({figures_of(runs[i]), host, candidate});
    exact = exact && figures.step == runs[i].step && figures.peak == runs[i].peaks.on_device();
  }
  return exact;
}

void Search::price_what_sketches_leave() {
  in_rounds<std::vector<Priced>>(
      shapes_a_round, [&](unsigned worker, std::uint32_t shape) { return price_shape(worker, shape); },
      [&](const std::vector<Priced>& of_shape) {
        for (const auto& [standing, run] : of_shape) {
          found_.runs[standing.candidate] = run;
          found_.frontier.offer(standing);
        }
      });
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
