#include "traces/import/operator_blocks.h"

#include <algorithm>

#include "traces/import/period.h"
#include "traces/import/steps.h"

namespace stowage {
namespace {

// The operators of `thread` that no other operator holds, in time
// order, but for the backward's and the optimizer's.
std::vector<HostIndex> outermost_operators(const KinetoTrace& trace, const HostOrder& order,
                                           ThreadId thread) {
  std::vector<HostIndex> found;
  std::vector<bool> passed(order.size());  // inside an operator, the backward or the optimizer
  const HostOrder::Range range = order.of(thread);
  for (HostIndex index = range.first; index < range.last; ++index) {
    const HostSpan& span = order[index];
    const auto parent = order.parent(index);
    const bool inside = parent && passed[*parent];
    const bool optimizer =
        span.kind == HostKind::annotation && trace.names.text(span.name).starts_with("Optimizer.");
    passed[index] =
        inside || optimizer || span.kind == HostKind::operation || span.kind == HostKind::backward_node;
    if (!inside && span.kind == HostKind::operation) found.push_back(index);
  }
  return found;
}

std::vector<HostIndex> forward_operators(const KinetoTrace& trace, const HostOrder& order) {
  std::vector<HostIndex> most;
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    std::vector<HostIndex> found = outermost_operators(trace, order, static_cast<ThreadId>(thread));
    if (found.size() > most.size()) most = std::move(found);
  }
  return most;
}

std::uint64_t token_of(const HostSpan& span) {
  return (std::uint64_t{span.name} << 32) | span.shapes;
}

// The stretches of one step, by index into `operators`.
struct Found {
  std::size_t begin, end;  // of the step's operators
  std::vector<Repeat> repeats;

  std::size_t blocks() const { return repeats.empty() ? 0 : repeats.front().count; }
};

std::vector<Found> search(const HostOrder& order, const std::vector<HostIndex>& operators,
                          const std::vector<StepWindow>& steps) {
  std::vector<Found> all;
  std::size_t first = 0;
  while (first < operators.size()) {
    const auto step = step_at(steps, order[operators[first]].begin);
    std::vector<std::uint64_t> tokens;
    std::size_t last = first;
    for (; last < operators.size() && step_at(steps, order[operators[last]].begin) == step; ++last) {
      tokens.push_back(token_of(order[operators[last]]));
    }
    if (step || steps.empty()) all.push_back({first, last, repeats_in(tokens)});
    first = last;
  }
  return all;
}

// What most steps agree on.
std::size_t usual_count(const std::vector<Found>& steps) {
  std::vector<std::size_t> counts;
  for (const Found& found : steps) counts.push_back(found.blocks());
  std::sort(counts.begin(), counts.end());
  return counts.empty() ? 0 : counts[counts.size() / 2];
}

// A block lasts until the next operator of its step begins: what
// is freed after its last one is still its own.
void add_repeat(const HostOrder& order, const std::vector<HostIndex>& operators, const Found& step,
                const Repeat& repeat, Blocks& blocks) {
  for (std::size_t i = 0; i < repeat.count; ++i) {
    const std::size_t first = step.begin + repeat.begin + i * repeat.length, last = first + repeat.length;
    for (std::size_t at = first; at < last; ++at) blocks.marks[operators[at]] = static_cast<BlockId>(i);
    const bool another = last < step.end;
    blocks.forward.push_back(
        {.block = static_cast<BlockId>(i),
         .thread = order[operators[first]].thread,
         .begin = order[operators[first]].begin,
         .end = another ? order[operators[last]].begin : order[operators[last - 1]].end});
  }
}

}  // namespace

Blocks operator_blocks(const KinetoTrace& trace, const HostOrder& order) {
  const std::vector<HostIndex> operators = forward_operators(trace, order);
  const std::vector<Found> steps = search(order, operators, marked_steps(trace));
  const std::size_t count = usual_count(steps);
  Blocks blocks;
  if (count < 2 || count > most_blocks) return blocks;
  blocks.marks.resize(order.size());
  for (const Found& found : steps) {
    if (found.blocks() != count) continue;
    for (const Repeat& repeat : found.repeats) add_repeat(order, operators, found, repeat, blocks);
  }
  for (std::size_t i = 0; i < count; ++i) blocks.names.push_back({"block." + std::to_string(i), "block"});
  return blocks;
}

}  // namespace stowage
