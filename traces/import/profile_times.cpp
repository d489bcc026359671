#include "traces/import/profile_times.h"

#include <algorithm>
#include <string>
#include <vector>

#include "traces/error.h"
#include "traces/import/medians.h"

namespace stowage {
namespace {

bool timeless(const BlockProfile& block) {
  return block.times.forward == Nanos{} && block.times.backward == Nanos{};
}

bool equal_bytes(const BlockProfile& a, const BlockProfile& b) {
  return a.group == b.group && saved_bytes(a) == saved_bytes(b) && a.sizes.input == b.sizes.input;
}

Nanos middle(const std::vector<BlockProfile*>& blocks, Nanos BlockTimes::*part) {
  std::vector<Nanos> values;
  for (const BlockProfile* block : blocks) values.push_back(block->times.*part);
  return median(std::move(values));
}

}  // namespace

void take_times(Profile& profile, const Profile& timed) {
  const std::vector<BlockProfile> blocks = timed.expanded();
  if (std::all_of(blocks.begin(), blocks.end(), timeless))
    throw InputError("", "blocks", "expected blocks with times");
  if (blocks.size() != profile.blocks.size())
    throw InputError("", "blocks",
                     "expected " + std::to_string(profile.blocks.size()) +
                         " blocks, as there are in the recording, not " + std::to_string(blocks.size()));
  for (std::size_t i = 0; i < blocks.size(); ++i) profile.blocks[i].times = blocks[i].times;
  profile.fixed.prologue = timed.fixed.prologue;
  // What takes no time holds no memory.
  profile.fixed.epilogue = profile.fixed.epilogue_bytes.value > 0 ? std::max(timed.fixed.epilogue, Nanos{1})
                                                                  : timed.fixed.epilogue;
  profile.fixed.optimizer = timed.fixed.optimizer;
  profile.fixed.host_optimizer = timed.fixed.host_optimizer;
}

void even_times(Profile& profile) {
  std::vector<std::vector<BlockProfile*>> families;
  for (BlockProfile& block : profile.blocks) {
    const auto family = std::find_if(families.begin(), families.end(), [&](const auto& members) {
      return equal_bytes(*members.front(), block);
    });
    family == families.end() ? families.push_back({&block}) : family->push_back(&block);
  }
  for (const std::vector<BlockProfile*>& family : families) {
    const Nanos forward = middle(family, &BlockTimes::forward),
                backward = middle(family, &BlockTimes::backward);
    for (BlockProfile* block : family) {
      block->times.forward = forward;
      block->times.backward = backward;
    }
  }
}

}  // namespace stowage
