#include "plan/homes.h"

namespace stowage {

std::vector<Buffer> weight_homes(const BlockTable& table, const Plan& plan) {
  std::vector<Buffer> homes;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const Residence weights = plan.blocks[i].weights;
    Bytes rest = table.rows[i].sizes.weight;
    if (weights == Residence::stream) {
      for (const Layer& layer : table.layers_of(i)) {
        if (layer.weight == Bytes{}) continue;
        homes.push_back({Space::host, BufferKind::weights, i, {}, layer.weight});
        rest -= layer.weight;
      }
    }
    const bool away = weights == Residence::h2d || weights == Residence::two_way;
    homes.push_back({away ? Space::host : Space::device, BufferKind::weights, i, {}, rest});
  }
  return homes;
}

Buffer optimizer_home(const BlockTable& table, const Plan& plan) {
  const OptimizerPlace place = plan.step.optimizer;
  const Space space = place == OptimizerPlace::device ? Space::device
                      : place == OptimizerPlace::disk ? Space::disk
                                                      : Space::host;
  return {space, BufferKind::optimizer_state, {}, {}, table.fixed.optimizer_state};
}

}  // namespace stowage
