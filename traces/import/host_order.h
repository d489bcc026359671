// The host's spans as trees: by thread, in time order, each with the span that holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traces/import/kineto_trace.h"

namespace stowage {

// Index of a span in time order, over all threads: those of one thread are neighbours, and a span comes
// before what it holds.
using HostIndex = std::uint32_t;

class HostOrder {
 public:
  // Keeps a reference to `trace`, and notes where it was asked last: not for several threads at once. Cost: a
  // sort of the host spans; 8 bytes a span.
  explicit HostOrder(const KinetoTrace& trace);

  HostIndex size() const { return static_cast<HostIndex>(order_.size()); }
  const HostSpan& operator[](HostIndex index) const { return trace_->host[order_[index]]; }
  std::optional<HostIndex> parent(HostIndex index) const {
    if (parents_[index] == none) return std::nullopt;
    return parents_[index];
  }
  // The spans of one thread: [first, last).
  struct Range {
    HostIndex first, last;
  };
  Range of(ThreadId thread) const { return {starts_[thread], starts_[thread + 1U]}; }
  // The narrowest span that holds this moment, its end excluded. Cost: a search; next to nothing for a moment
  // soon after the one that was asked for last on its thread.
  std::optional<HostIndex> innermost(ThreadId thread, Nanos at) const;

 private:
  static constexpr HostIndex none = ~HostIndex{0};

  static constexpr std::size_t deepest = 256;

  void collect();
  void sort(Range range);
  void link_parents(Range range);
  HostIndex first_after(ThreadId thread, Nanos at) const;

  const KinetoTrace* trace_;
  std::vector<std::uint32_t> order_;
  std::vector<HostIndex> parents_, starts_;
  mutable std::vector<HostIndex> asked_;  // by thread: first_after() of the moment asked for last
};

}  // namespace stowage
