#include "traces/import/snapshot_reruns.h"

#include <algorithm>
#include <span>

namespace stowage {
namespace {

class Assignment {
 public:
  Assignment(const std::vector<MemoryOperation>& log, const std::vector<SnapshotPass>& passes)
      : log_(log), passes_(passes), ends_(ends_of(log)) {
    for (const SnapshotPass& pass : passes) {
      const std::vector<std::size_t> kept = kept_in(log, ends_, pass.first, pass.last);
      output_ends_.push_back(kept.empty() ? 0 : ends_[kept.back()]);
    }
  }

  // Stretches of one run.
  void add(std::span<const RerunStretch> run) {
    const auto after = std::partition_point(passes_.begin(), passes_.end(), [&](const SnapshotPass& pass) {
      return pass.first < run.front().first;
    });
    if (after == passes_.begin()) return;  // the forward lies before the recording
    const auto last = static_cast<std::size_t>(after - passes_.begin());
    if (step_ != passes_[last - 1].step) bound_ = last;
    step_ = passes_[last - 1].step;
    std::size_t first = last;
    while (first > 0 && passes_[first - 1].step == step_) --first;
    if (run.size() > bound_ - first) {
      found_.doubt = "blocks run again in the backward more often than they ran";
      return;
    }
    if (!run.front().whole) found_.doubt = parts;
    bound_ = head_of(run, first, bound_ - run.size());
    for (std::size_t i = 0; i < run.size(); ++i)
      found_.reruns.push_back({bound_ + i, bound_, run[i].first, run[i].last});
  }

  // What ran again outside the lines of a block.
  void add(const std::vector<std::size_t>& others) {
    for (std::size_t first = 0; first < passes_.size();) {
      std::size_t last = first;
      while (last < passes_.size() && passes_[last].step == passes_[first].step) ++last;
      const auto [begin, end] = backward_of(first, last);
      const auto other = std::lower_bound(others.begin(), others.end(), begin);
      if (other != others.end() && *other < end) found_.doubt = parts;
      first = last;
    }
  }

  SnapshotReruns take() { return std::move(found_); }

 private:
  static constexpr const char* parts =
      "parts of blocks were run again in the backward, and it cannot be told of which";

  // The operations from the first free of what the last of the passes [first, last) kept to the last free of
  // what the first one kept.
  std::pair<std::size_t, std::size_t> backward_of(std::size_t first, std::size_t last) const {
    std::size_t begin = log_.size(), end = 0;
    for (const std::size_t kept : kept_in(log_, ends_, passes_[last - 1].first, passes_[last - 1].last))
      begin = std::min(begin, ends_[kept]);
    for (const std::size_t kept : kept_in(log_, ends_, passes_[first].first, passes_[first].last))
      if (ends_[kept] < log_.size()) end = std::max(end, ends_[kept]);
    return {begin, end};
  }

  // From `first` to `last`.
  std::size_t head_of(std::span<const RerunStretch> run, std::size_t first, std::size_t last) const {
    std::size_t freed = log_.size();
    for (const RerunStretch& stretch : run) {
      for (const std::size_t kept : kept_in(log_, ends_, stretch.first, run.back().last))
        freed = std::min(freed, ends_[kept]);
    }
    std::size_t head = first, next = log_.size() + 1;
    for (std::size_t pass = first; pass < last; ++pass) {
      const bool goes_next = output_ends_[pass] >= freed && output_ends_[pass] <= next;
      if (!goes_next) continue;
      head = pass + 1;
      next = output_ends_[pass];
    }
    return head;
  }

  const std::vector<MemoryOperation>& log_;
  const std::vector<SnapshotPass>& passes_;
  std::vector<std::size_t> ends_, output_ends_;
  std::optional<std::size_t> step_;  // of the latest run
  std::size_t bound_ = 0;            // its first pass: the runs go from the last block to the first
  SnapshotReruns found_;
};

}  // namespace

std::vector<std::size_t> kept_in(const std::vector<MemoryOperation>& log,
                                 const std::vector<std::size_t>& ends, std::size_t first, std::size_t last) {
  std::vector<std::size_t> kept;
  for (std::size_t i = first; i < last; ++i) {
    if (log[i].bytes.value > 0 && ends[i] >= last) kept.push_back(i);
  }
  return kept;
}

SnapshotReruns assign_reruns(const std::vector<MemoryOperation>& log, const std::vector<SnapshotPass>& passes,
                             const std::vector<RerunStretch>& stretches,
                             const std::vector<std::size_t>& others) {
  Assignment assignment(log, passes);
  for (std::size_t first = 0; first < stretches.size();) {
    std::size_t last = first;
    while (last < stretches.size() && stretches[last].run == stretches[first].run) ++last;
    assignment.add(std::span(stretches).subspan(first, last - first));
    first = last;
  }
  assignment.add(others);
  return assignment.take();
}

}  // namespace stowage
