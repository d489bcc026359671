// How far the predictions of trials were off: a line a plan, and figures over all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/torch_interleaved.h"
#include "validation/error_figures.h"

namespace stowage::benchmarks {

inline double milliseconds(Nanos nanos) {
  return static_cast<double>(nanos.value) / 1e6;
}
inline double mebibytes(Bytes bytes) {
  return static_cast<double>(bytes.value) / (1 << 20);
}
inline Nanos median(const std::vector<Nanos>& times) {
  return spread_of(times).median;
}

inline double step_error(const Figures& figures) {
  return error_of(milliseconds(figures.predicted.step), milliseconds(median(figures.steps)));
}
// The middle one of the rounds, each against the profiles around it: what the machine's pace did between
// rounds is left out.
inline double paired_error(const Figures& figures) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < figures.steps.size(); ++i)
    errors.push_back(error_of(milliseconds(figures.paired[i]), milliseconds(figures.steps[i])));
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}
// The worst of all rounds, from the step's own compute times: what is not told by those.
inline double replay_error(const Figures& figures) {
  double worst = 0;
  for (std::size_t i = 0; i < figures.steps.size(); ++i)
    worst = std::max(
        worst, std::abs(error_of(milliseconds(figures.replayed[i].step), milliseconds(figures.steps[i]))));
  return worst;
}
inline Bytes highest_peak(const Figures& figures) {
  return *std::max_element(figures.peaks.begin(), figures.peaks.end());
}
inline double peak_error(const Figures& figures) {
  return error_of(mebibytes(figures.predicted.peaks.device), mebibytes(highest_peak(figures)));
}

inline void print_heading() {
  std::printf("%-72s %22s   %22s   %26s %8s %8s\n%-72s %7s %7s %6s   %7s %7s %6s   %8s %8s %8s %8s %8s\n", "",
              "first step, ms", "steady step, ms", "device peak, MiB", "replayed", "pageable", "", "said",
              "took", "", "said", "took", "", "said", "was", "", "", "copies");
}

inline void print_step(const Figures& figures) {
  std::printf(" %7.1f %7.1f %+5.1f%%  ", milliseconds(figures.predicted.step),
              milliseconds(median(figures.steps)), 100 * step_error(figures));
}

inline void print(const Trial& trial) {
  const std::string words = describe(trial.settings);
  std::printf("%-72.72s", words.c_str());
  if (trial.refused) {
    std::printf(" does not fit its budget of %.2f MiB\n", mebibytes(trial.budget));
    return;
  }
  trial.later ? print_step(trial.first) : static_cast<void>(std::printf("%26s", ""));
  const Figures& steady = trial.steady();
  print_step(steady);
  std::printf(" %8.2f %8.2f %+7.2f%% %7.1f%% %8lld%s\n", mebibytes(steady.predicted.peaks.device),
              mebibytes(highest_peak(steady)), 100 * peak_error(steady), 100 * replay_error(steady),
              static_cast<long long>(steady.pageable),
              steady.pool == steady.predicted_pool ? "" : "  and the pool differs");
}

inline std::string describe(const Machine& machine) {
  static constexpr const char* roundings[] = {"exact", "pow2", "slab"};
  const Links& links = machine.links;
  char text[240];
  std::snprintf(
      text, sizeof text,
      "%s: pinned %s, %.0f us and %.1f GB/s to pin; duplex %.2f in, %.2f out; pageable %.1f GB/s; "
      "copies slow compute by %.0f%%%s",
      machine.name.c_str(), roundings[static_cast<int>(machine.host.pinned_rounding)],
      static_cast<double>(machine.host.pinning.each.value) / 1e3,
      machine.host.pinning.rate ? static_cast<double>(machine.host.pinning.rate->bytes_per_second) / 1e9 : 0,
      links.share_left(links.h2d), links.share_left(links.d2h),
      static_cast<double>(links.pageable.bytes_per_second) / 1e9, 100 * links.compute_slowdown,
      links.d2h.curve.empty() ? "" : "; a curve out");
  return text;
}

struct Aims {
  double step_median = 0.05, step_p90 = 0.10, peak = 0.01;
};

inline void print_steps(const char* what, const ErrorFigures& figures) {
  std::printf("%s, error over %zu plans: median %.1f%%, nine of ten %.1f%%, worst %.1f%%\n", what,
              figures.cells, 100 * figures.median, 100 * figures.p90, 100 * figures.worst);
}

// Whether the aims are met.
inline bool summarize(const std::vector<Trial>& trials, const Aims& aims) {
  std::vector<double> first, steady, paired, replayed, peaks;
  std::size_t refused = 0, pools = 0, equal_pools = 0;
  for (const Trial& trial : trials) {
    if (trial.refused) {
      ++refused;
      continue;
    }
    steady.push_back(step_error(trial.steady()));
    paired.push_back(paired_error(trial.steady()));
    replayed.push_back(replay_error(trial.steady()));
    peaks.push_back(peak_error(trial.steady()));
    if (!trial.later) continue;
    first.push_back(step_error(trial.first));
    peaks.push_back(peak_error(trial.first));
    ++pools;
    equal_pools +=
        trial.first.pool == trial.first.predicted_pool && trial.later->pool == trial.later->predicted_pool;
  }
  const ErrorFigures steps = figures_of(steady), peak = figures_of(peaks);
  print_steps("steady step", steps);
  print_steps("first step", figures_of(first));
  print_steps("steady step, each round predicted from the profiles around it", figures_of(paired));
  print_steps("steady step, replayed with its own compute times", figures_of(replayed));
  std::printf(
      "device peak, largest error: %.2f%%; plans over their budget: %zu; pools as predicted: %zu of %zu\n",
      100 * peak.worst, refused, equal_pools, pools);
  std::printf("aims for steady steps: median %.0f%%, nine of ten %.0f%%; for peaks %.0f%%\n",
              100 * aims.step_median, 100 * aims.step_p90, 100 * aims.peak);
  return steps.median <= aims.step_median && steps.p90 <= aims.step_p90 && peak.worst <= aims.peak &&
         refused == 0 && equal_pools == pools;
}

}  // namespace stowage::benchmarks
