#include "validation/calibrate.h"

#include <algorithm>
#include <cmath>

#include "simulator/evaluator.h"
#include "traces/error.h"
#include "validation/link_table.h"

namespace stowage {
namespace {

Settings every_block() {
  Settings settings;
  settings.policy = Policy::recompute;
  return settings;
}

// `part` of `whole` as `share` is of `shares`, rounded down.
std::int64_t portion(std::int64_t whole, double share, double shares) {
  return shares > 0 ? static_cast<std::int64_t>(static_cast<double>(whole) * (share / shares)) : 0;
}

// The chain with inputs, no times yet. An output that is read again later lives until then whatever the
// segments: it counts among what always stays.
Profile inputs_of(const Family& family) {
  Profile profile;
  profile.name = family.name;
  bool stays = false;  // what enters this block
  for (const BlockGroup* group : chain_of(family)) {
    BlockProfile block;
    block.name = group->name;
    block.group = group->always_checkpointed     ? "always " + group->name
                  : family.segments_cross_groups ? std::string("chosen")
                                                 : group->name;
    if (!stays) block.sizes.input = input_of(family, group->shape);
    block.saved.resize(1);
    block.saved.front().name = "kept";
    block.saved.front().bytes = kept_by(family, group->shape);
    profile.fixed.output = input_of(family, group->shape);
    profile.blocks.push_back(std::move(block));
    stays = group->output_read_later;
  }
  return profile;
}

// Kept bytes in the proportions of the shape, `largest` for the block that keeps most.
void set_kept(Profile& profile, const Family& family, Bytes largest) {
  const std::vector<const BlockGroup*> chain = chain_of(family);
  std::int64_t most = 0;
  for (const BlockGroup* group : chain) most = std::max(most, kept_by(family, group->shape).value);
  for (std::size_t i = 0; i < chain.size(); ++i)
    profile.blocks[i].saved.front().bytes =
        Bytes{portion(largest.value, static_cast<double>(kept_by(family, chain[i]->shape).value),
                      static_cast<double>(most))};
}

// In proportion to the work. At least a nanosecond each: what takes no time takes no memory either.
void set_times(Profile& profile, const Family& family, Nanos forward, Nanos backward) {
  const std::vector<const BlockGroup*> chain = chain_of(family);
  double all = 0;
  for (const BlockGroup* group : chain) all += work_of(family, group->shape);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const double work = work_of(family, chain[i]->shape);
    profile.blocks[i].times.forward = std::max(Nanos{1}, Nanos{portion(forward.value, work, all)});
    profile.blocks[i].times.backward = std::max(Nanos{1}, Nanos{portion(backward.value, work, all)});
  }
}

// How much more the simulator says for nothing checkpointed than for every block checkpointed.
Bytes freed(const FamilyStep& step, const Family& family) {
  return predict(step, family, std::nullopt).peak - predict(step, family, every_block()).peak;
}

// The least figure for the block that keeps most with which at least `wanted` is freed: more kept, more
// freed.
Bytes largest_kept(FamilyStep step, const Family& family, Bytes wanted, Bytes most) {
  std::int64_t low = 0, high = most.value;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    set_kept(step.profile, family, Bytes{middle});
    if (freed(step, family) >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return Bytes{low};
}

}  // namespace

Plan plan_of(const BlockTable& table, const Family& family, const Settings& settings) {
  Plan plan = expand(table, settings).plan;
  if (settings.policy != Policy::recompute) return plan;
  const std::vector<const BlockGroup*> chain = chain_of(family);
  const auto segments = static_cast<std::uint32_t>(chain.size());
  for (std::uint32_t i = 0; i < segments; ++i) {
    if (!chain[i]->always_checkpointed) continue;
    plan.blocks[i].activation = Activation::recompute;
    plan.blocks[i].segment = segments + i;  // above all that expand() gives
    plan.settings.reset();
  }
  check(plan, table);
  return plan;
}

Reading predict(const FamilyStep& step, const Family& family, const std::optional<Settings>& schedule) {
  const BlockTable table(step.profile);
  const std::optional<Run> run =
      Evaluator(ample_machine())
          .evaluate(compile(table, plan_of(table, family, schedule.value_or(Settings{}))));
  if (!run) throw DefectError("a step without copies that waits for itself");
  return {schedule ? run->step + step.switching : run->step, run->peaks.device};
}

std::variant<FamilyStep, NoBasis> calibrate(const Family& family, const Reading& none, const Reading& layer) {
  FamilyStep step{inputs_of(family), Nanos{}};
  const Nanos extra = layer.step - none.step;
  Nanos forward = std::max(extra, Nanos{});
  if (forward > none.step) forward = Nanos{none.step.value / 2};
  step.switching = extra - forward;
  set_times(step.profile, family, forward, none.step - forward);

  set_kept(step.profile, family, Bytes{});
  const Bytes wanted = none.peak - layer.peak;
  if (wanted <= Bytes{} || wanted <= freed(step, family)) return NoBasis::frees_nothing;
  set_kept(step.profile, family, largest_kept(step, family, wanted, none.peak));
  step.profile.fixed.resident = none.peak - predict(step, family, std::nullopt).peak;
  if (step.profile.fixed.resident < Bytes{}) return NoBasis::smaller;
  return step;
}

FamilyStep step_from_shape(const Family& family, Bytes peak, const std::optional<Settings>& schedule) {
  FamilyStep step{inputs_of(family), Nanos{}};
  set_times(step.profile, family, Nanos{}, Nanos{});
  step.profile.fixed.resident = std::max(Bytes{}, peak - predict(step, family, schedule).peak);
  return step;
}

}  // namespace stowage
