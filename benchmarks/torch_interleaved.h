// Trains one model under many plans in turn, and profiles it in the same rounds.
//
//   round   | profile | plan 0 | plan 1 | ... |       the first round warms up and is not counted
//
// A computer that gets slower or faster meanwhile does so for the profile and for every plan alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plan/plan.h"
#include "plan/program.h"
#include "profiler/block_probe.h"
#include "profiler/sample.h"
#include "runtime/executor.h"
#include "runtime/host_device.h"
#include "runtime/optimizer.h"
#include "simulator/engine.h"
#include "traces/error.h"

namespace stowage::benchmarks {

// A plan, what was said of it, and what it did.
struct Trial {
  Settings settings;
  Program program;
  Bytes budget;  // of the device: the first predicted peak and one percent
  Run predicted;
  Bytes peak;
  bool refused = false;  // by its budget
  // By counted round: the step, and sums over its spans.
  std::vector<Nanos> steps, computes, copies, forwards, recomputes;
};

struct Rounds {
  int count = 7;
  int repeats = 3;  // of the profile, in each
  std::function<void(int done)> on_round = [](int) {};
};

class Interleaved {
 public:
  // All must outlive it. `machine` is what the device plays, and has room for any of the plans.
  Interleaved(const ProbeSubject& subject, HostDevice& device, const Machine& machine, Rounds rounds)
      : subject_(subject), device_(device), machine_(machine), rounds_(std::move(rounds)) {}

  std::vector<Trial> run(const std::vector<Settings>& plans) {
    std::vector<Trial> trials = prepare(plans, profile());
    std::vector<Profile> profiles;
    for (int round = 0; round < rounds_.count; ++round) {
      profiles.push_back(profile());
      train(trials, round > 0);
      rounds_.on_round(round + 1);
    }
    profiles.erase(profiles.begin());
    const BlockTable table(middle(profiles));
    for (Trial& trial : trials) trial.predicted = predict(table, trial.settings);
    return trials;
  }

 private:
  Profile profile() const {
    ProbeOptions options;
    options.warm_up = 1;
    options.repeats = rounds_.repeats;
    Assembled assembled = probe_blocks(subject_, device_, options);
    if (!assembled.warnings.empty()) throw DefectError(assembled.warnings.front());
    return std::move(assembled.profile);
  }

  std::vector<Trial> prepare(const std::vector<Settings>& plans, const Profile& profile) const {
    const BlockTable table(profile);
    std::vector<Trial> trials;
    for (const Settings& settings : plans) {
      const Bytes peak = predict(table, settings).peaks.device;
      Trial& trial = trials.emplace_back();
      trial.settings = settings;
      trial.program = compile(table, expand(table, settings).plan);
      trial.budget = {peak.value / 100 * 101};
    }
    return trials;
  }

  Run predict(const BlockTable& table, const Settings& settings) const {
    return Engine(machine_).simulate(compile(table, expand(table, settings).plan)).run;
  }

  void train(std::vector<Trial>& trials, bool counts) {
    Executor executor(subject_.chain, device_);
    AdamW optimizer(executor.trained(), {});
    for (Trial& trial : trials) {
      device_.memory().set_budget(trial.budget);
      const StepResult result = executor.run(trial.program, subject_.batch, optimizer);
      if (const auto* report = std::get_if<StepReport>(&result))
        note(*report, counts, trial);
      else
        trial.refused = true;
    }
    device_.memory().set_budget(machine_.device.usable());
    executor.bring_weights_home();
  }

  static void note(const StepReport& report, bool counts, Trial& trial) {
    for (const StepMemory& memory : report.memory) trial.peak = std::max(trial.peak, memory.peak);
    if (!counts) return;
    const std::vector<Span>& spans = report.timeline.spans;
    const auto sum_of = [&](const auto& belongs) {
      Nanos sum;
      for (const Span& span : spans)
        if (belongs(span)) sum += span.end - span.begin;
      return sum;
    };
    trial.steps.push_back(report.timeline.step);
    trial.computes.push_back(report.timeline.compute);
    trial.copies.push_back(sum_of([](const Span& span) { return span.lane != Lane::compute; }));
    trial.forwards.push_back(sum_of([](const Span& span) { return span.kind == StepKind::forward; }));
    trial.recomputes.push_back(sum_of([](const Span& span) { return span.kind == StepKind::recompute; }));
  }

  // The median of each time over all profiles; sizes are the same in each.
  static Profile middle(const std::vector<Profile>& profiles) {
    Profile middle = profiles.front();
    const auto median = [&](const auto& time_of) {
      std::vector<Nanos> times;
      for (const Profile& profile : profiles) times.push_back(time_of(profile));
      return spread_of(std::move(times)).median;
    };
    for (Nanos FixedCosts::*time : {&FixedCosts::prologue, &FixedCosts::epilogue, &FixedCosts::optimizer})
      middle.fixed.*time = median([&](const Profile& profile) { return profile.fixed.*time; });
    for (std::size_t i = 0; i < middle.blocks.size(); ++i)
      for (Nanos BlockTimes::*time : {&BlockTimes::forward, &BlockTimes::backward})
        middle.blocks[i].times.*time =
            median([&](const Profile& profile) { return profile.blocks[i].times.*time; });
    return middle;
  }

  const ProbeSubject& subject_;
  HostDevice& device_;
  const Machine& machine_;
  const Rounds rounds_;
};

}  // namespace stowage::benchmarks
