#include "tuner/dialects/rotation.h"

#include <algorithm>

namespace stowage {

void spread(Plan& plan, Range blocks, std::int64_t count, Residence residence) {
  for (std::int64_t i = 0; i < count; ++i)
    plan.blocks[blocks.begin + static_cast<std::uint32_t>(i * blocks.size() / count)].weights = residence;
  plan.settings.reset();
}

void rotate(Meaning& meaning, const std::vector<Away>& lists) {
  bool any = false, tight = false;
  for (const Away& list : lists) {
    any |= list.count > 0;
    tight |= list.count > 0 && std::int64_t{list.blocks.size()} - list.count <= 2;
  }
  if (!any) return;
  for (const Away& list : lists)
    if (list.count > 0) spread(meaning.plan, list.blocks, list.count + (tight ? 0 : 1), Residence::two_way);
  meaning.plan.transfer.prefetch = tight ? 0 : 1;
  meaning.overhead.turns = true;
  meaning.readings.push_back(std::string("counted as ") + (tight ? "that many blocks" : "one block more") +
                             " on the host, evenly spread: the trainer's blocks take turns, which no plan "
                             "does; it takes no more memory "
                             "than is counted" +
                             (tight ? ", and some percent more time" : ""));
}

}  // namespace stowage
