#include "validation/backend_sweep.h"

#include <algorithm>
#include <array>

#include "plan/plan.h"
#include "simulator/evaluator.h"
#include "traces/csv.h"
#include "traces/error.h"
#include "validation/cells.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 5> modes{"none", "torch-ffn", "unsloth-ffn", "torch-layer",
                                                "unsloth-layer"};

bool same_chain(const BackendRow& a, const BackendRow& b) {
  return a.gpu == b.gpu && a.layers == b.layers && a.width == b.width && a.tokens == b.tokens;
}

const BackendRow& row_of(const std::vector<BackendRow>& rows, const BackendRow& chain,
                         std::string_view mode) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BackendRow& row) {
    return same_chain(row, chain) && row.mode == mode;
  });
  if (found == rows.end())
    throw InputError("", "",
                     "no row " + std::string(mode) + " of " + chain.gpu + ", " +
                         std::to_string(chain.layers) + " layers, " + std::to_string(chain.tokens) +
                         " tokens");
  return *found;
}

// Of the multiplications that are done again, the share of the feed-forward part. Recomputing stops when
// everything that was saved is there, so the last of its two projections is left out.
double ffn_share(const BackendRow& chain) {
  const auto width = static_cast<double>(chain.width), tokens = static_cast<double>(chain.tokens);
  const double attention = 4 * width * width + 2 * tokens * width, hidden = 4 * width * width;
  return hidden / (attention + hidden);
}

SavedTensor saved(const char* name, Bytes bytes, Scope scope) {
  SavedTensor tensor;
  tensor.name = name;
  tensor.bytes = bytes;
  tensor.scope = scope;
  return tensor;
}

Profile profile_of(const BackendRow& none, const BackendRow& layer) {
  const Bytes activation = Bytes{none.tokens * none.width * 2};
  const Nanos forward{std::max<std::int64_t>(1, (layer.step - none.step).value / none.layers)};
  BlockProfile block;
  block.name = "block";
  block.count = none.layers;
  block.sizes.input = activation;
  block.times.forward = forward;
  block.times.backward = Nanos{std::max<std::int64_t>(1, none.step.value / none.layers - forward.value)};
  block.times.scope_forward[static_cast<std::size_t>(Scope::ffn)] =
      Nanos{static_cast<std::int64_t>(static_cast<double>(forward.value) * ffn_share(none))};
  block.saved = {saved("attention", activation * 4, Scope::attention),
                 saved("middle", activation, Scope::ffn), saved("hidden", activation * 4, Scope::ffn)};
  Profile profile;
  profile.name = "plain transformer";
  profile.fixed.output = activation;
  profile.blocks = {block};
  return profile;
}

Plan plan_of(const BlockTable& table, std::string_view mode) {
  Settings settings;
  settings.transfer.prefetch = 0;
  if (mode != "none") settings.policy = Policy::recompute;
  if (mode.starts_with("unsloth")) settings.policy = Policy::recompute_offload;
  if (mode.ends_with("ffn")) settings.scope = Scope::ffn;
  Plan plan = expand(table, settings).plan;
  // What enters the chain is no result of autograd, and only such are sent away.
  if (mode == "unsloth-layer") {
    plan.blocks.front().offload_input = false;
    plan.settings.reset();
  }
  check(plan, table);
  return plan;
}

Run run_of(const Profile& profile, const Machine& machine, std::string_view mode) {
  const BlockTable table(profile);
  const auto run = Evaluator(machine).evaluate(compile(table, plan_of(table, mode)));
  if (!run) throw DefectError("a plan of settings that waits for itself");
  return *run;
}

}  // namespace

std::vector<BackendRow> parse_backends(const std::string& text) {
  constexpr std::int64_t most_layers = 1000, most_width = 1 << 17, most_tokens = 1 << 22;
  std::vector<BackendRow> rows;
  for (const CsvRow& cells :
       parse_csv(text, {"gpu", "layers", "width", "tokens", "mode", "seconds", "peak_gib"})) {
    if (std::find(modes.begin(), modes.end(), cells.text("mode")) == modes.end())
      cells.refuse("mode", "none, torch-ffn, unsloth-ffn, torch-layer or unsloth-layer");
    rows.push_back({cells.text("gpu"), cells.text("mode"), count_in(cells, "layers", most_layers),
                    count_in(cells, "width", most_width), count_in(cells, "tokens", most_tokens),
                    seconds_in(cells, "seconds"), gib_in(cells, "peak_gib")});
  }
  return rows;
}

PublishedCheck check_backends(const std::vector<BackendRow>& rows, const std::vector<LinkRow>& links) {
  PublishedCheck check{"checkpoint backends", {}};
  for (const BackendRow& row : rows) {
    if (row.mode == "none") continue;
    const BackendRow& none = row_of(rows, row, "none");
    const Machine machine = machine_with_links(links, row.gpu);
    const Profile profile = profile_of(none, row_of(rows, row, "torch-layer"));
    const Run plain = run_of(profile, machine, "none"), run = run_of(profile, machine, row.mode);
    CheckRow checked{row.gpu + ", " + std::to_string(row.layers) + " x " + std::to_string(row.width) + ", " +
                         std::to_string(row.tokens) + " tokens, " + row.mode,
                     std::nullopt,
                     Compared<Bytes>{row.peak, none.peak - plain.peaks.device + run.peaks.device}};
    if (row.mode != "torch-layer") checked.time = Compared<Nanos>{row.step, run.step};
    check.rows.push_back(std::move(checked));
  }
  return check;
}

}  // namespace stowage
