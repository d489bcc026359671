#include "runtime/excess.h"

#include <string>
#include <unordered_set>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr Bytes unimportant{64 << 10};

// What a pass makes and leaves, what it frees that was not its own, and what copies bring meanwhile.
struct Balance {
  Bytes left, freed, brought;
};

Balance balance_of(const Program& program, Range steps) {
  Balance balance;
  std::unordered_set<BufferId> made;
  const auto enter = [&](StepId step, Edge edge) {
    for (const MemoryEffect& effect : program.effects_at(step, edge)) {
      const Buffer& buffer = program.buffers[effect.buffer];
      if (buffer.space != Space::device) continue;
      if (!effect.alloc && buffer.holders > 1) continue;  // others may hold it; then less is let go
      if (effect.alloc) {
        made.insert(effect.buffer);
        balance.left += buffer.bytes;
      } else if (made.contains(effect.buffer)) {
        balance.left -= buffer.bytes;
      } else {
        balance.freed += buffer.bytes;
      }
    }
  };
  for (StepId step = steps.begin; step != steps.end; ++step)
    for (Edge edge : {Edge::begin, Edge::end}) enter(step, edge);
  // What is issued as the first step begins is there before, and what is issued as the last one ends is not.
  const Trigger begin{steps.begin, Edge::begin}, end{steps.end - 1, Edge::end};
  for (StepId copy = program.first(Lane::h2d); copy != program.lanes[static_cast<int>(Lane::h2d)].end; ++copy)
    if (begin < program.steps[copy].issue && program.steps[copy].issue < end)
      balance.brought += program.steps[copy].bytes;
  return balance;
}

}  // namespace

void refuse_excess(const Program& program, Range steps, Bytes before, Bytes after) {
  const Step& forward = program.steps[steps.begin];
  if (forward.kind != StepKind::forward) return;
  const Balance said = balance_of(program, steps);
  const Bytes left = after - before + said.freed - said.brought;
  if (left <= said.left * 2 + unimportant) return;
  const std::string dropped =
      forward.saves ? "" : ": checkpointing is not active there, though the plan has it";
  throw InputError("model", "block " + std::to_string(*forward.block),
                   "keeps " + std::to_string(left.value) + " B of its forward, and the plan " +
                       std::to_string(said.left.value) + " B" + dropped);
}

}  // namespace stowage
