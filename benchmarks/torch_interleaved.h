// Trains one model under many plans on several machines in turn, and profiles it beside each.
//
//   round   | profile | plan 0 | plan 1 | .. | profile | plan 5 | .. |     the first round is not counted
//             machine 0 ---------------------> machine 1 ------------>
//
// A computer that gets slower or faster meanwhile does so for the profiles and for every plan alike. Each
// plan begins with an empty pool of host buffers; where it uses the pool it goes on for a second step, which
// finds it filled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plan/pinned_buckets.h"
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

// A machine, and plans to carry out on it.
struct Scene {
  Machine machine;
  std::vector<Settings> plans;
};

// A step as it was predicted, and as it was.
struct Figures {
  Run predicted;
  std::int64_t pageable = 0;  // copies, of the prediction
  PinnedReport predicted_pool, pool;
  std::vector<Bytes> peaks;  // by counted round
  std::vector<Nanos> steps;
  std::vector<Run> replayed;  // the same predicted from the step's own compute times
  std::vector<Nanos> paired;  // steps by the profile before and the one after it in its round, on average
};

// A plan, what was said of it, and what it did.
struct Trial {
  Settings settings;
  Program program;
  Bytes budget;  // of the device: the first predicted peak and one percent
  Figures first;
  std::optional<Figures> later;  // where an earlier step makes a difference
  bool refused = false;          // by its budget
  // By counted round: sums over the last step's spans.
  std::vector<Nanos> computes, copies, forwards, recomputes;

  const Figures& steady() const { return later ? *later : first; }
};

struct Rounds {
  int count = 7;
  int repeats = 1;  // of a profile
  std::function<void(int done)> on_round = [](int) {};
};

// Of one machine.
struct Scenery {
  Machine machine;
  std::vector<Trial> trials;
};

// Makes up scenes for a model. Each of their plans must fit its machine.
using DrawScenes = std::function<std::vector<Scene>(const BlockTable&)>;

class Interleaved {
 public:
  // `subject` must outlive it.
  Interleaved(const ProbeSubject& subject, Rounds rounds) : subject_(subject), rounds_(std::move(rounds)) {}

  // In the order of the scenes and their plans.
  std::vector<Scenery> run(const Machine& plain, const DrawScenes& draw) {
    std::vector<Scenery> all = prepare(draw, profile_on(plain));
    std::vector<Profile> profiles;  // one before each scene of a counted round, and a last one
    for (int round = 0; round < rounds_.count; ++round) {
      for (Scenery& each : all) {
        Profile profile = profile_on(each.machine);
        if (round > 0) profiles.push_back(std::move(profile));
        train(each, round > 0);
      }
      rounds_.on_round(round + 1);
    }
    profiles.push_back(profile_on(all.front().machine));
    for (std::size_t i = 0; i + 1 < profiles.size(); ++i)
      pair(BlockTable(profiles[i]), BlockTable(profiles[i + 1]), all[i % all.size()]);
    const BlockTable table(middle(profiles));
    for (Scenery& each : all)
      for (Trial& trial : each.trials) predict(table, each.machine, trial);
    return all;
  }

 private:
  Profile profile_on(const Machine& machine) const {
    HostDevice device(machine);
    ProbeOptions options;
    options.warm_up = 1;
    options.repeats = rounds_.repeats;
    Assembled assembled = probe_blocks(subject_, device, options);
    if (!assembled.warnings.empty()) throw DefectError(assembled.warnings.front());
    return std::move(assembled.profile);
  }

  static std::vector<Scenery> prepare(const DrawScenes& draw, const Profile& profile) {
    const BlockTable table(profile);
    std::vector<Scenery> all;
    for (const Scene& scene : draw(table)) {
      all.push_back({scene.machine, {}});
      for (const Settings& settings : scene.plans) {
        Trial trial;
        trial.settings = settings;
        trial.program = compile(table, expand(table, settings).plan);
        predict(table, scene.machine, trial);
        const Bytes peak =
            std::max(trial.first.predicted.peaks.device, trial.steady().predicted.peaks.device);
        trial.budget = {peak.value / 100 * 101};
        all.back().trials.push_back(std::move(trial));
      }
    }
    return all;
  }

  // With the times of `table`; a step that leaves something in the pool is followed by another.
  static void predict(const BlockTable& table, const Machine& machine, Trial& trial) {
    const Program program = compile(table, expand(table, trial.settings).plan);
    Engine engine(machine);
    PinnedBuckets pool(machine.host.pinned_rounding);
    predict(engine, program, pool, trial.first);
    if (trial.first.predicted_pool.totals.served.accesses == 0) return;
    if (!trial.later) trial.later.emplace();
    predict(engine, program, pool, *trial.later);
  }

  // What one round's steps were to take, by the profiles around them.
  static void pair(const BlockTable& before, const BlockTable& after, Scenery& scenery) {
    for (Trial& trial : scenery.trials) {
      Trial early, late;
      early.settings = late.settings = trial.settings;
      predict(before, scenery.machine, early);
      predict(after, scenery.machine, late);
      const auto note_mean = [](const Figures& a, const Figures& b, Figures& figures) {
        figures.paired.push_back({(a.predicted.step.value + b.predicted.step.value) / 2});
      };
      note_mean(early.first, late.first, trial.first);
      if (trial.later) note_mean(*early.later, *late.later, *trial.later);
    }
  }

  static void predict(Engine& engine, const Program& program, PinnedBuckets& pool, Figures& figures) {
    Timeline timeline;
    figures.predicted = engine.simulate(program, pool, timeline).run;
    figures.predicted_pool = pool.report();
    figures.pageable = timeline.counters["pageable_copies"];
  }

  void train(Scenery& scenery, bool counts) {
    HostDevice device(scenery.machine);
    Machine unslowed = scenery.machine;
    unslowed.links.compute_slowdown = 0;  // a step's own times are slowed already
    Engine engine(unslowed);
    Executor executor(subject_.chain, device);
    AdamW optimizer(executor.trained(), {});
    for (Trial& trial : scenery.trials) {
      device.host_memory().start_anew();
      PinnedBuckets pool(scenery.machine.host.pinned_rounding);
      device.memory().set_budget(trial.budget);
      for (Figures* figures : {&trial.first, trial.later ? &*trial.later : nullptr}) {
        if (!figures) continue;
        const StepResult result = executor.run(trial.program, subject_.batch, optimizer);
        const auto* report = std::get_if<StepReport>(&result);
        trial.refused = trial.refused || !report;
        if (!report) continue;
        const Run again = replay(engine, trial.program, report->timeline, pool);
        if (!counts) continue;
        note(*report, again, *figures);
        if (figures == &trial.steady()) note_spans(report->timeline, trial);
      }
    }
    device.memory().set_budget(scenery.machine.device.usable());
    executor.bring_weights_home();
  }

  // What is left to predict where compute is known.
  static Run replay(Engine& engine, Program program, const Timeline& measured, PinnedBuckets& pool) {
    StepId next = program.first(Lane::compute);
    for (const Span& span : measured.spans)
      if (span.lane == Lane::compute) program.steps[next++].duration = span.end - span.begin;
    Timeline timeline;
    return engine.simulate(program, pool, timeline).run;
  }

  static void note(const StepReport& report, const Run& replayed, Figures& figures) {
    figures.pool = report.pool;
    figures.peaks.push_back(peak(report.timeline.memory.device));
    figures.steps.push_back(report.timeline.step);
    figures.replayed.push_back(replayed);
  }

  static void note_spans(const Timeline& timeline, Trial& trial) {
    const std::vector<Span>& spans = timeline.spans;
    const auto sum_of = [&](const auto& belongs) {
      Nanos sum;
      for (const Span& span : spans)
        if (belongs(span)) sum += span.end - span.begin;
      return sum;
    };
    trial.computes.push_back(timeline.compute);
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
  const Rounds rounds_;
};

}  // namespace stowage::benchmarks
