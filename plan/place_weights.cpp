#include <optional>
#include <vector>

#include "plan/homes.h"
#include "plan/layout.h"
#include "plan/weight_uses.h"

namespace stowage {
namespace {

using Stores = std::vector<std::optional<CopyId>>;  // the last one of each block's weights

// Each pass begins its sequence afresh: were loads for the next one issued in its backward pass, a load that
// waits for a store yet to come could stand before the restores that this store waits for.
void place_uses(Layout& layout, const Pass& pass, Trigger start, Stores& stored) {
  ProgramBuilder& builder = layout.builder;
  const BlockTable& table = layout.table;
  const std::vector<WeightUse> uses = weight_uses(table, layout.plan, pass, builder);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const auto& [block, layer, steps] = uses[k];
    const Bytes bytes = layer ? table.layers_of(block)[*layer].weight : table.rows[block].sizes.weight;
    const Trigger issue = layout.issue_of(k, start, [&](std::size_t j) { return uses[j].steps.begin; });
    Step copy{StepKind::load_weights, Lane::h2d, block, {}, {}, bytes, issue};
    copy.layer = layer;
    const CopyId load = builder.copy(copy, stored[block]);
    builder.wait(steps.begin, load);
    const BufferId device = builder.buffer({Space::device, BufferKind::weights, block, {}, bytes});
    builder.alloc_at_issue(device, load);
    if (layout.plan.blocks[block].weights != Residence::two_way) {
      builder.free(device, end_of(steps));
      continue;
    }
    const CopyId store =
        builder.copy({StepKind::store_weights, Lane::d2h, block, {}, {}, bytes, end_of(steps)});
    builder.free_after(device, store);
    stored[block] = store;
  }
}

}  // namespace

void place_weights(Layout& layout) {
  for (const Buffer& home : weight_homes(layout.table, layout.plan)) layout.builder.initial(home);
  Stores stored(layout.table.size());
  for (const Pass& pass : layout.order.passes) {
    const bool first = &pass == &layout.order.passes.front();
    place_uses(layout, pass, first ? Trigger{} : begin_of(only(pass.prologue)), stored);
  }
}

}  // namespace stowage
