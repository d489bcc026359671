#include "validation/swapped_weights.h"

#include <algorithm>
#include <charconv>

#include "plan/plan.h"
#include "simulator/evaluator.h"
#include "traces/csv.h"
#include "traces/error.h"
#include "validation/cells.h"
#include "validation/link_table.h"

namespace stowage {
namespace {

constexpr std::int64_t bytes_per_mib = 1 << 20;

// A block a tensor, since each is pinned by itself.
Profile profile_of(const WeightsRow& row) {
  Profile profile;
  profile.name = row.label;
  for (std::int64_t i = 0; i < row.blocks; ++i)
    for (const Bytes bytes : row.tensors) {
      BlockProfile tensor;
      tensor.name = "tensor";
      tensor.times.forward = tensor.times.backward = Nanos{1};
      tensor.sizes.weight = bytes;
      profile.blocks.push_back(std::move(tensor));
    }
  return profile;
}

Program loaded(const WeightsRow& row) {
  const BlockTable table(profile_of(row));
  Plan plan = expand(table, Settings{}).plan;
  plan.settings.reset();  // the setting swaps all blocks but one
  const std::size_t tensors = row.tensors.size() * static_cast<std::size_t>(row.swapped);
  for (std::size_t i = plan.blocks.size() - tensors; i < plan.blocks.size(); ++i)
    plan.blocks[i].weights = Residence::h2d;
  check(plan, table);
  return compile(table, plan);
}

Bytes on_device(const Program& program) {
  Bytes bytes;
  for (const BufferId buffer : program.initial)
    if (program.buffers[buffer].space == Space::device) bytes += program.buffers[buffer].bytes;
  return bytes;
}

Bytes locked(const Program& program) {
  Machine machine = ample_machine();
  machine.host.pinned_rounding = PinnedRounding::pow2;
  const auto run = Evaluator(machine).evaluate(program);
  if (!run) throw DefectError("a block swap that waits for itself");
  return run->peaks.host_pinned;
}

Bytes on_host(const Program& program) {
  const auto run = Evaluator(ample_machine()).evaluate(program);
  if (!run) throw DefectError("a block swap that waits for itself");
  return run->peaks.host;
}

std::vector<Bytes> tensors_of(const CsvRow& cells) {
  constexpr std::int64_t most_mib = 1 << 20;
  std::vector<Bytes> tensors;
  const std::string& text = cells.text("tensors_mib");
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t mib = 0;
    const auto [rest, error] = std::from_chars(at, end, mib);
    if (error != std::errc{} || mib < 1 || mib > most_mib || (rest != end && *rest != ';'))
      cells.refuse("tensors_mib", "whole numbers with ; between them");
    tensors.push_back(Bytes{mib * bytes_per_mib});
    if (rest == end) return tensors;
    at = rest + 1;
  }
}

}  // namespace

std::vector<WeightsRow> parse_weights(const std::string& text) {
  constexpr std::int64_t most_blocks = 1000;
  std::vector<WeightsRow> rows;
  for (const CsvRow& cells : parse_csv(
           text, {"label", "blocks", "swapped", "tensors_mib", "device_gib", "host_gib", "locked_gib"})) {
    const std::int64_t blocks = count_in(cells, "blocks", most_blocks);
    rows.push_back({cells.text("label"), blocks, count_in(cells, "swapped", blocks), tensors_of(cells),
                    gib_in(cells, "device_gib"), gib_in(cells, "host_gib"), gib_in(cells, "locked_gib")});
  }
  return rows;
}

PublishedCheck check_weights(const std::vector<WeightsRow>& rows) {
  PublishedCheck check{"swapped weights", {}};
  const auto add = [&](const WeightsRow& row, const char* where, Bytes measured, Bytes predicted) {
    check.rows.push_back({row.label + ", " + std::to_string(row.swapped) + " of " +
                              std::to_string(row.blocks) + " blocks swapped, " + where,
                          std::nullopt, Compared<Bytes>{measured, predicted}});
  };
  for (const WeightsRow& row : rows) {
    const auto first = std::find_if(rows.begin(), rows.end(),
                                    [&](const WeightsRow& other) { return other.label == row.label; });
    const Program program = loaded(row);
    if (&*first != &row)
      add(row, "on the device", row.device, first->device - on_device(loaded(*first)) + on_device(program));
    add(row, "on the host", row.host, on_host(program));
    add(row, "locked", row.locked, locked(program));
  }
  return check;
}

}  // namespace stowage
