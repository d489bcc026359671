#include <optional>
#include <vector>

#include "plan/layout.h"
#include "plan/segments.h"

namespace stowage {
namespace {

// Compute steps during which a swapped block's weights must be on the device.
struct Use {
  std::uint32_t block;
  Range steps;
};

class Uses {
 public:
  explicit Uses(const Layout& layout) : layout_(layout) {}

  // In the order in which they begin; two in a row of one block are one.
  std::vector<Use> list() {
    for (const Pass& pass : layout_.order.passes) {
      const std::uint32_t n = layout_.table.size();
      for (std::uint32_t i = 0; i < n; ++i) add(i, pass.blocks[i].forward);
      for (std::uint32_t end = n; end > 0;) {
        std::uint32_t begin = end - 1;
        while (begin > 0 && same_segment(layout_.plan, begin - 1, begin)) --begin;
        for (std::uint32_t i = begin; i < end; ++i) {
          const BlockSteps& steps = pass.blocks[i];
          add(i, {steps.resumes(), steps.backward.end});
        }
        end = begin;
      }
    }
    return std::move(uses_);
  }

 private:
  void add(std::uint32_t block, Range steps) {
    if (layout_.plan.blocks[block].weights == Residence::resident) return;
    if (!uses_.empty() && uses_.back().block == block)
      uses_.back().steps.end = steps.end;
    else
      uses_.push_back({block, steps});
  }

  const Layout& layout_;
  std::vector<Use> uses_;
};

void place_homes(Layout& layout) {
  for (std::uint32_t i = 0; i < layout.table.size(); ++i) {
    const bool away = layout.plan.blocks[i].weights != Residence::resident;
    const Space home = away ? Space::host : Space::device;
    layout.builder.initial({home, BufferKind::weights, i, {}, layout.table.rows[i].sizes.weight});
  }
}

}  // namespace

void place_weights(Layout& layout) {
  place_homes(layout);
  ProgramBuilder& builder = layout.builder;
  const std::vector<Use> uses = Uses(layout).list();
  std::vector<std::optional<CopyId>> stored(layout.table.size());  // the last store of each block's weights
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const auto [block, steps] = uses[k];
    const Bytes bytes = layout.table.rows[block].sizes.weight;
    const Trigger issue = layout.issue_of(k, Trigger{}, [&](std::size_t j) { return uses[j].steps.begin; });
    const CopyId load =
        builder.copy({StepKind::load_weights, Lane::h2d, block, {}, {}, bytes, issue}, stored[block]);
    builder.wait(steps.begin, load);
    const BufferId device = builder.buffer({Space::device, BufferKind::weights, block, {}, bytes});
    builder.alloc_at_issue(device, load);
    if (layout.plan.blocks[block].weights == Residence::h2d) {
      builder.free(device, end_of(steps));
      continue;
    }
    const CopyId store =
        builder.copy({StepKind::store_weights, Lane::d2h, block, {}, {}, bytes, end_of(steps)});
    builder.free_after(device, store);
    stored[block] = store;
  }
}

}  // namespace stowage
