#include "runtime/excess.h"

#include <string>
#include <unordered_set>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr Bytes unimportant{64 << 10};

// What a step makes and leaves, and what it frees that was there before.
struct Balance {
  Bytes left, freed;
};

Balance balance_of(const Program& program, StepId step) {
  Balance balance;
  std::unordered_set<BufferId> made;
  for (Edge edge : {Edge::begin, Edge::end})
    for (const MemoryEffect& effect : program.effects_at(step, edge)) {
      const Buffer& buffer = program.buffers[effect.buffer];
      if (buffer.space != Space::device) continue;
      if (effect.alloc) {
        made.insert(effect.buffer);
        balance.left += buffer.bytes;
      } else if (made.contains(effect.buffer)) {
        balance.left -= buffer.bytes;
      } else {
        balance.freed += buffer.bytes;
      }
    }
  return balance;
}

}  // namespace

void refuse_excess(const Program& program, StepId step, Bytes before, Bytes after) {
  const Step& forward = program.steps[step];
  if (forward.kind != StepKind::forward) return;
  const Balance said = balance_of(program, step);
  const Bytes left = after - before + said.freed;
  if (left <= said.left * 2 + unimportant) return;
  const std::string dropped =
      forward.saves ? "" : ": checkpointing is not active there, though the plan has it";
  throw InputError("model", "block " + std::to_string(*forward.block),
                   "keeps " + std::to_string(left.value) + " B of its forward, and the plan " +
                       std::to_string(said.left.value) + " B" + dropped);
}

}  // namespace stowage
