#include "plan/weight_uses.h"

#include <algorithm>

#include "plan/segments.h"

namespace stowage {
namespace {

// Each use by itself, in any order.
class Listing {
 public:
  Listing(const BlockTable& table, const Plan& plan, const ProgramBuilder& builder)
      : table_(table), plan_(plan), builder_(builder) {}

  void add(std::uint32_t i, const BlockSteps& steps) {
    const Residence weights = plan_.blocks[i].weights;
    if (weights == Residence::resident) return;
    if (weights == Residence::stream) return add_layers(i, steps);
    uses_.push_back({i, {}, steps.forward});
    uses_.push_back({i, {}, {steps.resumes(), steps.backward.end}});
  }

  std::vector<WeightUse> take() { return std::move(uses_); }

 private:
  void add_layers(std::uint32_t i, const BlockSteps& steps) {
    const std::span<const Layer> layers = table_.layers_of(i);
    std::uint32_t kept = plan_.blocks[i].kept_layers;
    for (auto layer = static_cast<std::uint32_t>(layers.size()); layer-- > 0;) {
      if (layers[layer].weight == Bytes{}) continue;
      const std::size_t first = uses_.size();
      for (Range pass : {steps.forward, steps.recompute.value_or(Range{}), steps.backward})
        add_layer(i, layer, pass);
      if (kept == 0) continue;
      --kept;
      uses_[first].steps.end = uses_.back().steps.end;
      uses_.resize(first + 1);
    }
  }
  void add_layer(std::uint32_t i, std::uint32_t layer, Range pass) {
    for (StepId step = pass.begin; step < pass.end; ++step)
      if (builder_.step(step).layer == layer) uses_.push_back({i, layer, {step, step + 1}});
  }

  const BlockTable& table_;
  const Plan& plan_;
  const ProgramBuilder& builder_;
  std::vector<WeightUse> uses_;
};

}  // namespace

std::vector<WeightUse> weight_uses(const BlockTable& table, const Plan& plan, const Pass& pass,
                                   const ProgramBuilder& builder) {
  Listing listing(table, plan, builder);
  for (std::uint32_t i = 0; i < table.size(); ++i) listing.add(i, pass.blocks[i]);
  std::vector<WeightUse> all = listing.take(), uses;
  std::sort(all.begin(), all.end(),
            [](const WeightUse& a, const WeightUse& b) { return a.steps.begin < b.steps.begin; });
  for (const WeightUse& use : all) {
    const bool in_a_row = !uses.empty() && uses.back().block == use.block && uses.back().layer == use.layer;
    if (in_a_row)
      uses.back().steps.end = use.steps.end;
    else
      uses.push_back(use);
  }
  return uses;
}

}  // namespace stowage
