#include "validation/block_swap.h"

#include <algorithm>
#include <map>

#include "plan/plan.h"
#include "simulator/engine.h"
#include "traces/csv.h"
#include "traces/error.h"
#include "validation/cells.h"

namespace stowage {
namespace {

// A pass of the published length when nothing is swapped. Activations are left out: they do not move.
Profile profile_of(const SwapRow& row) {
  BlockProfile block;
  block.name = "block";
  block.count = row.blocks;
  block.sizes.weight = row.block;
  block.times.forward = row.forward;
  block.times.backward = Nanos{1};
  Profile profile;
  profile.name = row.label;
  profile.blocks = {block};
  const Nanos rest = row.resident - row.forward * (row.pass == SwapPass::training ? 2 : 1) * row.blocks;
  if (row.pass == SwapPass::training)
    profile.blocks.front().times.backward = Nanos{std::max<std::int64_t>(1, rest.value / row.blocks)};
  if (row.resident_peak)
    profile.fixed.resident = std::max(Bytes{}, *row.resident_peak - row.block * row.blocks);
  return profile;
}

Plan plan_of(const BlockTable& table, SwapPass pass) {
  Settings settings;
  if (pass == SwapPass::training) settings.policy = Policy::recompute;
  Plan plan = expand(table, settings).plan;
  plan.settings.reset();  // the setting swaps all blocks but one
  for (BlockDecision& block : plan.blocks) block.weights = Residence::h2d;
  check(plan, table);
  return plan;
}

// The forward pass has ended when its last block has. The first load of the next pass runs beside that block,
// as it does in a loop of forward passes.
Nanos forward_end(const Timeline& timeline) {
  Nanos end{};
  for (const Span& span : timeline.spans)
    if (span.kind == StepKind::forward) end = std::max(end, span.end);
  return end;
}

struct Passed {
  Nanos time;
  Bytes peak;
};

Passed simulated(const SwapRow& row, const Machine& machine) {
  const BlockTable table(profile_of(row));
  Timeline timeline;
  const Outcome outcome = Engine(machine).simulate(compile(table, plan_of(table, row.pass)), timeline);
  if (!std::holds_alternative<Ran>(outcome.verdict)) throw DefectError("a block swap that does not run");
  return {row.pass == SwapPass::training ? outcome.run.step : forward_end(timeline),
          outcome.run.peaks.device};
}

CheckRow checked(const SwapRow& row, const Machine& machine, bool basis) {
  const Passed passed = simulated(row, machine);
  CheckRow checked{
      row.gpu + ", " + row.label + ", " + (row.pass == SwapPass::training ? "training" : "forward"),
      std::nullopt, std::nullopt};
  if (!basis) checked.time = Compared<Nanos>{row.swapped, passed.time};
  if (row.swapped_peak) checked.memory = Compared<Bytes>{*row.swapped_peak, passed.peak};
  return checked;
}

SwapRow swap_row_of(const CsvRow& cells) {
  constexpr std::int64_t most_blocks = 1000;
  SwapRow row;
  row.gpu = cells.text("gpu");
  row.label = cells.text("label");
  const std::string& pass = cells.text("pass");
  if (pass != "training" && pass != "forward") cells.refuse("pass", "training or forward");
  row.pass = pass == "training" ? SwapPass::training : SwapPass::forward;
  row.blocks = count_in(cells, "blocks", most_blocks);
  row.block = mib_in(cells, "block_mib");
  row.forward = milliseconds_in(cells, "forward_ms");
  row.resident = milliseconds_in(cells, "resident_ms");
  row.swapped = milliseconds_in(cells, "swapped_ms");
  row.resident_peak = gib_if_given(cells, "resident_gib");
  row.swapped_peak = gib_if_given(cells, "swapped_gib");
  if (row.resident_peak.has_value() != row.swapped_peak.has_value())
    cells.refuse("swapped_gib", "both peaks or neither");
  return row;
}

}  // namespace

std::vector<SwapRow> parse_swaps(const std::string& text) {
  std::vector<SwapRow> rows;
  for (const CsvRow& cells : parse_csv(text, {"gpu", "label", "pass", "blocks", "block_mib", "forward_ms",
                                              "resident_ms", "swapped_ms", "resident_gib", "swapped_gib"}))
    rows.push_back(swap_row_of(cells));
  return rows;
}

Machine contended(Machine machine, const SwapRow& row) {
  constexpr double thousandths = 1000;
  int low = 0, high = 999;  // the most slowing with which the pass is no longer than measured
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    machine.links.compute_slowdown = middle / thousandths;
    if (simulated(row, machine).time <= row.swapped)
      low = middle;
    else
      high = middle - 1;
  }
  machine.links.compute_slowdown = low / thousandths;
  return machine;
}

PublishedCheck check_swaps(const std::vector<SwapRow>& rows, const std::vector<LinkRow>& links) {
  struct Bench {
    const SwapRow* basis;
    Machine machine;
  };
  std::map<std::string, Bench> benches;
  for (const SwapRow& row : rows)
    if (row.pass == SwapPass::training && !benches.contains(row.gpu))
      benches.emplace(row.gpu, Bench{&row, contended(machine_with_links(links, row.gpu), row)});
  for (const SwapRow& row : rows)
    benches.try_emplace(row.gpu, Bench{nullptr, machine_with_links(links, row.gpu)});
  PublishedCheck check{"block swap", {}};
  for (const SwapRow& row : rows) {
    const Bench& bench = benches.at(row.gpu);
    check.rows.push_back(checked(row, bench.machine, bench.basis == &row));
  }
  return check;
}

}  // namespace stowage
