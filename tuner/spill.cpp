#include "tuner/spill.h"

#include <algorithm>

#include "tuner/field.h"
#include "tuner/pricer.h"
#include "tuner/search.h"

namespace stowage {
namespace {

constexpr Bytes no_limit{std::int64_t{1} << 60};
constexpr std::int64_t shares = 8;  // of the host's budget

Machine with_endless_host(Machine machine) {
  machine.host.memory = machine.host.pinned_limit = no_limit;
  machine.host.device_margin.reset();
  return machine;
}

TuneRequest without_host_budget(TuneRequest request) {
  request.budget.host = request.budget.pinned = no_limit;
  return request;
}

bool offloads(const Settings& settings) {
  return settings.policy == Policy::offload || settings.policy == Policy::recompute_offload;
}

// From the host's whole budget down to nothing.
Bytes part_of(const Budget& budget, std::int64_t part) {
  const std::int64_t whole = std::min(budget.host, budget.pinned).value;
  return {whole / shares * part + whole % shares * part / shares};
}

}  // namespace

Spilled spill(const BlockTable& table, const Machine& machine, const TuneRequest& request, Nanos than) {
  const Machine endless = with_endless_host(machine);
  const Field field(table, endless, request.space);
  const Found found = search(field, without_host_budget(request));
  Spilled spilled;
  spilled.considered = found.considered;
  spilled.evaluated = static_cast<std::int64_t>(found.runs.size());
  Pricer pricer(table, machine);
  // Points rise in peak and fall in step. Going to the disk makes none of them faster.
  for (auto point = found.frontier.points().rbegin(); point != found.frontier.points().rend(); ++point) {
    if (point->figures.peak > request.budget.device) continue;
    if (point->figures.step >= than) break;
    Settings settings = field.settings_of(point->candidate);
    if (!offloads(settings)) continue;
    for (std::int64_t part = shares; part >= 0; --part) {
      settings.transfer.disk_over = part_of(request.budget, part);
      const Run run = pricer.price(settings);
      ++spilled.evaluated;
      if (run.step >= than || !fits(run.peaks, request.budget) || run.peaks.disk > machine.disk->capacity)
        continue;
      than = run.step;
      spilled.plan = TunedPlan{expand(table, settings).plan, run};
    }
  }
  return spilled;
}

}  // namespace stowage
