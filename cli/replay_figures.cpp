#include "cli/replay_figures.h"

#include <algorithm>
#include <limits>

#include "cli/quantity.h"
#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/caching_arena.h"
#include "simulator/engine.h"
#include "simulator/replay.h"
#include "traces/import/import_profile.h"
#include "traces/import/medians.h"

namespace stowage {
namespace {

template <class Item, class Figure>
auto middle(const std::vector<Item>& items, Figure figure) {
  std::vector<decltype(figure(items.front()))> values;
  for (const Item& item : items) values.push_back(figure(item));
  return median(std::move(values));
}

std::optional<Nanos> known(Nanos nanos) {
  return nanos.value > 0 ? std::optional(nanos) : std::nullopt;
}

// What the recording's blocks and format tell.
struct Support {
  explicit Support(const ImportReport& report)
      : format(report.format),
        doubt(report.doubts.empty() ? "" : report.doubts.front()),
        blocks(!report.found.blocks.empty()),
        memory(report.memory.has_value()),
        times(report.time.has_value()) {
    for (const ImportedBlock& block : report.found.blocks) backward = backward || block.backward.value > 0;
  }

  // Whether times say how long the device would work under other settings.
  bool work() const { return times && format != RecordingFormat::memory_snapshot; }

  RecordingFormat format;
  std::string doubt;  // of the blocks' figures
  bool blocks, memory, times, backward = false;
};

StepFigures recorded_figures(const ImportReport& report) {
  StepFigures figures;
  figures.step = known(middle(report.steps, [](const ImportedStep& step) { return step.end - step.begin; }));
  if (report.time && !report.time->use.empty()) {
    figures.step = known(middle(report.time->use, [](const StepUse& use) { return use.length(); }));
    figures.busy = middle(report.time->use, [](const StepUse& use) { return use.busy; });
    figures.compute = middle(report.time->use, [](const StepUse& use) { return use.compute; });
    figures.stall = middle(report.time->use, [](const StepUse& use) { return use.idle; });
    if (report.time->on_device)
      figures.copying = middle(report.time->use, [](const StepUse& use) { return use.crossing; });
  }
  if (report.memory) figures.peak = report.memory->account.peak;
  if (report.memory && !report.memory->reserved.empty()) figures.reserved = peak(report.memory->reserved);
  return figures;
}

// The blocks recomputed as they were: a run of blocks with one first block is a segment.
Plan recorded_plan(const ImportReport& report, const BlockTable& table) {
  Plan plan = expand(table, Settings{}).plan;
  plan.settings.reset();
  std::uint32_t segments = 0;
  for (std::size_t i = 0; i < report.found.blocks.size(); ++i) {
    const std::optional<BlockId>& segment = report.found.blocks[i].segment;
    if (!segment) continue;
    const bool continues = i > 0 && report.found.blocks[i - 1].segment == segment &&
                           table.rows[i].group == table.rows[i - 1].group;
    plan.blocks[i].activation = Activation::recompute;
    plan.blocks[i].segment = continues ? segments - 1 : segments++;
  }
  return plan;
}

std::string words(const Plan& plan) {
  std::size_t recomputed = 0, segments = 0;
  for (const BlockDecision& block : plan.blocks) {
    if (!block.segment) continue;
    ++recomputed;
    segments = *block.segment + 1;
  }
  if (recomputed == 0) return "keep";
  return "recompute of " + std::to_string(recomputed) + " of " + std::to_string(plan.blocks.size()) +
         " blocks, in " + std::to_string(segments) + (segments == 1 ? " segment" : " segments");
}

// What PyTorch's allocator would hold at most for the recorded requests, as far as it is modelled.
Bytes reserved_for(const Journal& journal) {
  constexpr Bytes no_limit{std::numeric_limits<std::int64_t>::max()};
  CachingArena arena(no_limit, {});
  return replay(journal.entries, arena, nullptr).peaks.reserved;
}

class Replayer {
 public:
  Replayer(const Support& support, const Profile& profile, const ReplayMachine& on)
      : support_(support), table_(profile), on_(&on), engine_(on.machine) {}

  const BlockTable& table() const { return table_; }

  StepFigures simulated(const Plan& plan) {
    const Program program = compile(table_, plan);
    const Run run = engine_.simulate(program).run;
    StepFigures figures;
    if (support_.times) {
      figures.step = run.step;
      figures.busy = figures.compute = run.compute;
      figures.stall = run.stall();
      figures.copying = Nanos{};
    }
    if (support_.memory) figures.peak = run.peaks.device;
    return figures;
  }

  Alternative alternative(const Settings& settings) {
    const Outcome outcome = engine_.simulate(compile(table_, expand(table_, settings).plan));
    Alternative found{settings, outcome.verdict, {}, {}, {}, {}};
    if (support_.work()) {
      found.step = outcome.run.step;
      found.stall = outcome.run.stall();
    }
    if (support_.memory) {
      found.peak = outcome.run.peaks.device;
      found.host_activations = outcome.run.peaks.host_activation;
    } else {
      found.verdict = Ran{};  // whether it fits is not known
    }
    return found;
  }

 private:
  Support support_;
  BlockTable table_;
  const ReplayMachine* on_;
  Engine engine_;
};

std::vector<Settings> asked_settings(bool with_copies) {
  Settings recompute, offload;
  recompute.policy = Policy::recompute;
  offload.policy = Policy::offload;
  Settings pairs = recompute;
  pairs.interval = 2;
  std::vector<Settings> settings = {Settings{}, recompute, pairs};
  if (with_copies) settings.push_back(offload);
  return settings;
}

// Why other settings cannot be told at all; empty where they can.
std::string nothing_told(const Support& support) {
  if (!support.doubt.empty()) return "a simulation, and other settings: " + support.doubt;
  if (!support.blocks) return "what other settings would do: no blocks were found";
  if (!support.times && !support.memory)
    return "what other settings would do: the recording has neither times nor levels of memory";
  if (!support.backward)
    return "what other settings would do: no backward of the blocks was recorded, and they act between "
           "forward and "
           "backward";
  return "";
}

std::vector<std::string> unknowns(const Support& support, const ReplayMachine& on,
                                  const ImportReport& report) {
  std::vector<std::string> unknown;
  if (!support.times) unknown.push_back("times: this format does not record them");
  if (!support.memory)
    unknown.push_back("memory: no allocations were recorded; profile_memory=True records them");
  if (const std::string nothing = nothing_told(support); !nothing.empty()) {
    unknown.push_back(nothing);
  } else if (!on.links_known) {
    unknown.push_back("offload: no copy was recorded that tells how fast the link is; --machine says so");
  } else if (!support.memory) {
    unknown.push_back("offload: it is not known how many bytes the blocks save");
  }
  if (support.times && !support.work())
    unknown.push_back(
        "times under other settings: a snapshot tells when the host allocated, not how long a device worked");
  if (support.work() && !report.time->on_device)
    unknown.push_back("device times: nothing ran on a device, so the host's operators stand for it");
  if (support.memory && support.blocks && !peaks_with_blocks(report))
    unknown.push_back(
        "the peak under other settings: the recorded one is reached when the blocks hold little, and stays");
  return unknown;
}

// Where no backward follows, a block may free what the one before it left; a simulated step keeps all of it
// for its backward. Says so, in words; empty where the blocks hold on to what they leave.
std::string let_go(const Support& support, const ImportReport& report) {
  if (!support.memory || !support.blocks || support.backward) return "";
  Bytes left, held;
  for (const ImportedBlock& block : report.found.blocks) left += block.bytes.saved;
  for (const Bytes bytes : report.memory->account.owners) held += bytes;
  if (held.value >= left.value - left.value / 20) return "";
  return "the simulated peak: no backward was recorded, so the blocks do not keep what they leave (" +
         readable(left) + ", of which " + readable(held) +
         " are there at the peak), as those of a simulated step do";
}

}  // namespace

StepReplay replay_step(const ImportReport& report, const Profile& profile, const ReplayMachine& on) {
  const Support support(report);
  Replayer replayer(support, profile, on);
  const Plan plan = recorded_plan(report, replayer.table());
  StepReplay found;
  found.recorded = recorded_figures(report);
  if (support.doubt.empty()) {
    if (support.blocks) found.plan = words(plan);
    found.simulated = replayer.simulated(plan);
  }
  if (report.journal) found.simulated.reserved = reserved_for(*report.journal);
  const StepFigures &recorded = found.recorded, &simulated = found.simulated;
  if (recorded.step && recorded.compute && simulated.step)
    found.step_with_waits = *simulated.step + *recorded.step - *recorded.compute;
  if (report.time && report.time->on_device && !report.steps.empty()) {
    const auto steps = static_cast<std::int64_t>(report.steps.size());
    found.collectives = Nanos{report.time->totals.collectives.value / steps};
    found.orphans = Nanos{report.time->totals.orphans.value / steps};
  }
  if (support.doubt.empty()) found.loss = profile.fixed.epilogue_bytes;
  found.unknown = unknowns(support, on, report);
  if (const std::string reason = let_go(support, report); !reason.empty()) {
    found.simulated.peak.reset();
    found.loss = Bytes{};
    found.unknown.push_back(reason);
  }
  if (nothing_told(support).empty()) {
    for (const Settings& settings : asked_settings(on.links_known && support.memory))
      found.alternatives.push_back(replayer.alternative(settings));
  }
  return found;
}

}  // namespace stowage
