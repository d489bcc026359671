#include "forecast/forecast_profile.h"

#include <algorithm>
#include <cmath>

#include "traces/error.h"
#include "validation/calibrate.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

Bytes whole_bytes(double value) {
  return Bytes{std::llround(value)};
}

Nanos portion_of(Nanos nanos, double share) {
  return Nanos{static_cast<std::int64_t>(static_cast<double>(nanos.value) * share)};
}

// As the model has it, moved to where `basis` has the step without checkpointing.
SweepBasis modelled(const Family& family, const TrainedShape& training, const Gpu& gpu,
                    const SweepBasis& basis, const StepModel& model) {
  const Situation none = situation(family, family.name, training, gpu, false);
  const Situation layer = situation(family, family.name, training, gpu, true);
  const Bytes freed = whole_bytes(model.bytes(none) - model.bytes(layer));
  const double longer = model.seconds(layer) / model.seconds(none);
  return {basis.none, {nanos_of(seconds_of(basis.none.step) * longer), basis.none.peak - freed}};
}

FamilyStep calibrated(const Family& family, const TrainedShape& training, const Gpu& gpu,
                      const SweepBasis& basis, const StepModel& model) {
  auto step = calibrate(family, basis.none, basis.layer);
  if (std::holds_alternative<NoBasis>(step)) {
    const SweepBasis other = modelled(family, training, gpu, basis, model);
    step = calibrate(family, other.none, other.layer);
  }
  if (auto* found = std::get_if<FamilyStep>(&step)) return *found;
  throw InputError("", "",
                   "nothing can be priced: by its shape " + family.name +
                       " keeps more than the whole step was measured to");
}

void part_by_scope(BlockProfile& block, const BlockCost& cost, const TrainedShape& training,
                   const StepModel& model) {
  const auto kept = model.kept(cost, training);
  const double all = kept[0] + kept[1];
  const Bytes whole = block.saved.front().bytes;
  const Bytes attention = whole_bytes(all > 0 ? static_cast<double>(whole.value) * kept[0] / all : 0);
  block.saved.assign(2, {});
  block.saved[0].name = "attention";
  block.saved[0].bytes = attention;
  block.saved[0].scope = Scope::attention;
  block.saved[1].name = "hidden";
  block.saved[1].bytes = whole - attention;
  block.saved[1].scope = Scope::ffn;
}

void time_by_scope(BlockProfile& block, const GroupShape& shape, const BlockCost& cost,
                   const Family& family) {
  const double hidden = 2.0 *
                        static_cast<double>(family.batch * shape.tokens() * shape.width * shape.ffn_width) *
                        (shape.ffn_gated ? 3 : 2);
  const double all = cost.linear_flops + cost.attention_flops;
  const double share = all > 0 ? std::min(1.0, hidden / all) : 0;
  block.times.scope_forward[static_cast<std::size_t>(Scope::ffn)] = portion_of(block.times.forward, share);
  block.times.scope_forward[static_cast<std::size_t>(Scope::attention)] =
      portion_of(block.times.forward, 1 - share);
}

// Moves up to `wanted` out of what stays, and says how much there was.
Bytes taken(Bytes& from, Bytes wanted) {
  const Bytes found = std::clamp(wanted, Bytes{}, std::max(from, Bytes{}));
  from -= found;
  return found;
}

void part_weights(Profile& profile, const Family& family, const TrainedShape& training) {
  const bool full = training.recipe.adapter == AdapterKind::full;
  const bool wide = training.recipe.optimizer == OptimizerKind::adamw_fp32;
  const double each = full ? (wide ? 4 : 2) : bytes_per_weight(training.precision);
  const FamilyCost cost = family_cost(family, training);
  Bytes& resident = profile.fixed.resident;
  profile.fixed.epilogue_bytes = taken(resident, whole_bytes(cost.epilogue));
  profile.fixed.optimizer_state =
      taken(resident, whole_bytes(state_bytes(training.recipe.optimizer) * cost.trained));
  const std::vector<const BlockGroup*> chain = chain_of(family);
  double wanted = 0;
  for (const BlockGroup* group : chain) wanted += each * static_cast<double>(parameters_of(group->shape));
  // Streamed weights are not on the device: there is less than they are.
  const double found = training.recipe.streamed_weights
                           ? wanted
                           : static_cast<double>(taken(resident, whole_bytes(wanted)).value);
  const double share = wanted > 0 ? found / wanted : 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const double numbers = static_cast<double>(parameters_of(chain[i]->shape));
    profile.blocks[i].sizes.weight = whole_bytes(each * share * numbers);
    if (full)
      profile.blocks[i].sizes.gradient =
          taken(resident, whole_bytes(gradient_bytes(training.recipe.optimizer) * numbers));
  }
}

}  // namespace

ForecastProfile forecast_profile(const Family& family, const TrainedShape& training, const Gpu& gpu,
                                 const SweepBasis& basis, const StepModel& model) {
  FamilyStep step = calibrated(family, training, gpu, basis, model);
  const std::vector<const BlockGroup*> chain = chain_of(family);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const BlockCost cost = block_cost(family, chain[i]->shape, training);
    part_by_scope(step.profile.blocks[i], cost, training, model);
    time_by_scope(step.profile.blocks[i], chain[i]->shape, cost, family);
  }
  part_weights(step.profile, family, training);
  return {std::move(step.profile), std::max(step.switching, Nanos{})};
}

}  // namespace stowage
