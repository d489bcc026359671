#include "traces/import/attribution.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace stowage {
namespace {

// The spans of the forward that made the nodes of the backward.
class ForwardOperators {
 public:
  explicit ForwardOperators(const HostOrder& order) {
    for (HostIndex index = 0; index < order.size(); ++index) {
      const HostSpan& span = order[index];
      if (span.kind != HostKind::operation || !span.sequence) continue;
      makers_[key(span.thread, *span.sequence)] = index;  // within a thread the one that began last
      threads_ = std::max<std::size_t>(threads_, span.thread + 1U);
    }
    for (HostIndex index = 0; index < order.size(); ++index) vote(order[index]);
  }

  std::optional<HostIndex> maker_of(const HostSpan& node) const {
    const auto votes = votes_.find(node.forward_thread);
    if (!node.sequence || votes == votes_.end()) return std::nullopt;
    const auto most = std::max_element(votes->second.begin(), votes->second.end());
    const auto found = makers_.find(key(static_cast<ThreadId>(most - votes->second.begin()), *node.sequence));
    if (found == makers_.end()) return std::nullopt;
    return found->second;
  }

 private:
  static std::uint64_t key(ThreadId thread, std::uint32_t sequence) {
    return (std::uint64_t{thread} << 32) | sequence;
  }

  void vote(const HostSpan& node) {
    if (node.kind != HostKind::backward_node || !node.sequence) return;
    std::vector<std::int64_t>& votes = votes_[node.forward_thread];
    votes.resize(threads_);
    for (std::size_t thread = 0; thread < threads_; ++thread) {
      if (makers_.contains(key(static_cast<ThreadId>(thread), *node.sequence))) ++votes[thread];
    }
  }

  std::unordered_map<std::uint64_t, HostIndex> makers_;
  std::unordered_map<std::uint16_t, std::vector<std::int64_t>> votes_;
  std::size_t threads_ = 0;
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
