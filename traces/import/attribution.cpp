#include "traces/import/attribution.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace stowage {
namespace {

// The spans of the forward that made the nodes of the backward.
class ForwardOperators {
 public:
  explicit ForwardOperators(const HostOrder& order) {
    for (HostIndex index = 0; index < order.size(); ++index) {
      const HostSpan& span = order[index];
      if (span.kind == HostKind::operation && span.sequence)
        makers_.push_back({*span.sequence, span.thread, index});
    }
    const auto earlier = [](const Maker& a, const Maker& b) {
      return a.sequence != b.sequence ? a.sequence < b.sequence : a.index < b.index;
    };
    if (!std::is_sorted(makers_.begin(), makers_.end(), earlier))
      std::sort(makers_.begin(), makers_.end(), earlier);
    for (HostIndex index = 0; index < order.size(); ++index) vote(order[index]);
    for (const auto& [pair, votes] : votes_) {
      Choice& best = chosen_[pair.first];
      if (votes > best.votes) best = {pair.second, votes};
    }
  }

  std::optional<HostIndex> maker_of(const HostSpan& node) const {
    const auto chosen = chosen_.find(node.forward_thread);
    if (!node.sequence || chosen == chosen_.end()) return std::nullopt;
    return last_of(*node.sequence, chosen->second.thread);
  }

 private:
  // By sequence number, then by index: those of one thread are neighbours, in time order.
  struct Maker {
    std::uint32_t sequence;
    ThreadId thread;
    HostIndex index;
  };

  struct Choice {
    ThreadId thread = 0;
    std::int64_t votes = 0;
  };

  // Within a thread the one that began last made the node.
  std::optional<HostIndex> last_of(std::uint32_t sequence, ThreadId thread) const {
    const auto after = std::upper_bound(makers_.begin(), makers_.end(), std::pair(sequence, thread),
                                        [](const auto& wanted, const Maker& maker) {
                                          return wanted < std::pair(maker.sequence, maker.thread);
                                        });
    if (after == makers_.begin()) return std::nullopt;
    const Maker& last = *std::prev(after);
    if (last.sequence != sequence || last.thread != thread) return std::nullopt;
    return last.index;
  }

  // One for each thread that has the node's number. A number that is all over the threads tells none from
  // another.
  void vote(const HostSpan& node) {
    constexpr int most_threads = 64;
    if (node.kind != HostKind::backward_node || !node.sequence) return;
    auto maker =
        std::lower_bound(makers_.begin(), makers_.end(), *node.sequence,
                         [](const Maker& a, std::uint32_t sequence) { return a.sequence < sequence; });
    for (int i = 0; i < most_threads && maker != makers_.end() && maker->sequence == *node.sequence; ++i) {
      ++votes_[{node.forward_thread, maker->thread}];
      maker = std::upper_bound(maker, makers_.end(), *maker, [](const Maker& a, const Maker& b) {
        return std::pair(a.sequence, a.thread) < std::pair(b.sequence, b.thread);
      });
    }
  }

  std::vector<Maker> makers_;
  std::map<std::pair<std::uint16_t, ThreadId>, std::int64_t> votes_;  // by the node's number for the thread
  std::map<std::uint16_t, Choice> chosen_;
};

bool is_optimizer(const KinetoTrace& trace, const HostSpan& span) {
  if (span.kind != HostKind::annotation) return false;
  const std::string& name = trace.names.text(span.name);
  return name.starts_with("Optimizer.step") || name == "## optimizer ##";
}

bool accumulates(const KinetoTrace& trace, const HostSpan& span) {
  return trace.names.text(span.name).find("AccumulateGrad") != std::string::npos;
}

}  // namespace

Contexts::Contexts(const KinetoTrace& trace, const HostOrder& order, const Blocks& blocks)
    : order_(&order), contexts_(order.size()) {
  place_outside_nodes(trace, blocks);
  place_nodes();
}

// Everything but which block a backward node belongs to.
void Contexts::place_outside_nodes(const KinetoTrace& trace, const Blocks& blocks) {
  for (HostIndex index = 0; index < order_->size(); ++index) {
    const HostSpan& span = (*order_)[index];
    Context& context = contexts_[index];
    if (const auto parent = order_->parent(index)) context = contexts_[*parent];
    if (span.kind == HostKind::backward_node) {
      context = {accumulates(trace, span) ? Phase::accumulate : Phase::backward, std::nullopt};
    } else if (is_optimizer(trace, span)) {
      context = {Phase::optimizer, std::nullopt};
    } else if (!blocks.marks.empty() && blocks.marks[index]) {
      const bool outside = context.phase == Phase::outside || context.phase == Phase::optimizer;
      context = {outside ? Phase::forward : Phase::recompute, blocks.marks[index]};
    }
  }
}

void Contexts::place_nodes() {
  const ForwardOperators forward(*order_);
  for (HostIndex index = 0; index < order_->size(); ++index) {
    Context& context = contexts_[index];
    if (context.phase != Phase::backward) continue;
    const auto parent = order_->parent(index);
    const bool inherits = parent && contexts_[*parent].phase == Phase::backward;
    if (const auto maker = forward.maker_of((*order_)[index]);
        maker && (*order_)[index].kind == HostKind::backward_node) {
      context.block = contexts_[*maker].block;
    } else if (inherits) {
      context.block = contexts_[*parent].block;
    }
  }
}

Context Contexts::at(HostMoment moment) const {
  const std::optional<HostIndex> index = order_->innermost(moment.thread, moment.at);
  return index ? contexts_[*index] : Context{};
}

}  // namespace stowage
