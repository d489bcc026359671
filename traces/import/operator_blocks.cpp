#include "traces/import/operator_blocks.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

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

// Tells whether the operators of a block run again inside the backward, as checkpointing makes them.
class RerunSearch {
 public:
  RerunSearch(const HostOrder& order, std::span<const HostIndex> block)
      : order_(&order), length_(block.size()) {
    for (std::size_t i = 0; i + 1 < block.size(); ++i)
      pairs_.insert({token_of(order[block[i]]), token_of(order[block[i + 1]])});
  }

  // In one node of the backward, with all that it holds: half of the block's pairs of neighbours, or more.
  bool within(HostIndex node, HostIndex last) const {
    std::set<Pair> seen;
    std::optional<std::uint64_t> before;
    for (HostIndex index = node + 1; index < last && (*order_)[index].begin < (*order_)[node].end; ++index) {
      const auto parent = order_->parent(index);
      const bool inner = parent && (*order_)[*parent].kind == HostKind::operation;
      if (inner || (*order_)[index].kind != HostKind::operation) continue;
      const std::uint64_t token = token_of((*order_)[index]);
      if (before && pairs_.contains({*before, token})) seen.insert({*before, token});
      before = token;
    }
    return !seen.empty() && seen.size() * 2 + 1 >= length_;
  }

  bool anywhere() const {
    for (HostIndex index = 0; index < order_->size(); ++index) {
      const auto parent = order_->parent(index);
      const bool outermost = (*order_)[index].kind == HostKind::backward_node &&
                             !(parent && (*order_)[*parent].kind == HostKind::backward_node);
      if (outermost && within(index, order_->of((*order_)[index].thread).last)) return true;
    }
    return false;
  }

 private:
  using Pair = std::pair<std::uint64_t, std::uint64_t>;

  const HostOrder* order_;
  std::size_t length_;
  std::set<Pair> pairs_;
};

// Whether the first block that was found runs again, or goes through a function that runs its own part again.
bool reruns(const KinetoTrace& trace, const HostOrder& order, const std::vector<HostIndex>& operators,
            const std::vector<Found>& steps) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [](const Found& step) { return !step.repeats.empty(); });
  if (found == steps.end()) return false;
  const Repeat& repeat = found->repeats.front();
  const auto block = std::span(operators).subspan(found->begin + repeat.begin, repeat.length);
  const bool hidden = std::any_of(block.begin(), block.end(), [&](HostIndex index) {
    return trace.names.text(order[index].name).find("CheckpointFunction") != std::string::npos;
  });
  return hidden || RerunSearch(order, block).anywhere();
}

}  // namespace

Blocks operator_blocks(const KinetoTrace& trace, const HostOrder& order) {
  const std::vector<HostIndex> operators = forward_operators(trace, order);
  const std::vector<Found> steps = search(order, operators, marked_steps(trace));
  const std::size_t count = usual_count(steps);
  Blocks blocks;
  if (count < 2 || count > most_blocks) return blocks;
  blocks.marks.resize(order.size());
  blocks.reruns_unseen = reruns(trace, order, operators, steps);
  for (const Found& found : steps) {
    if (found.blocks() != count) continue;
    for (const Repeat& repeat : found.repeats) add_repeat(order, operators, found, repeat, blocks);
  }
  for (std::size_t i = 0; i < count; ++i) blocks.names.push_back({"block." + std::to_string(i), "block"});
  return blocks;
}

}  // namespace stowage
