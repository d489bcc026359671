#include "tuner/swap_choice.h"

namespace stowage {

void SwapUses::list(const Shape& shape, const SwapChoice& swap) {
  uses.clear();
  by_last.clear();
  latest_.resize(shape.blocks.size());
  const auto add = [&](std::uint32_t block, std::uint32_t first, std::uint32_t last,
                       std::optional<std::uint32_t> previous) {
    if (!uses.empty() && uses.back().block == block) {
      uses.back().last = last;
      return;
    }
    latest_[block] = static_cast<std::uint32_t>(uses.size());
    uses.push_back({block, first, last, previous});
  };
  for (std::uint32_t i : swap.blocks) add(i, shape.blocks[i].forward, shape.blocks[i].forward, {});
  auto end = swap.blocks.end();
  for (Range run : shape.backward_runs) {
    auto begin = end;
    while (begin != swap.blocks.begin() && *(begin - 1) >= run.begin) --begin;
    for (auto i = begin; i != end; ++i)
      add(*i, shape.blocks[*i].resumes, shape.blocks[*i].backward, latest_[*i]);
    end = begin;
  }
  for (std::uint32_t i = 0; i < swap.blocks.size(); ++i)
    if (latest_[swap.blocks[i]] != i) by_last.push_back(i);
  for (auto i = swap.blocks.rbegin(); i != swap.blocks.rend(); ++i) by_last.push_back(latest_[*i]);
}

}  // namespace stowage
