#include "traces/import/step_memory.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "traces/import/medians.h"

namespace stowage {
namespace {

// The events of one device in time order; those of one moment in the file's order.
std::vector<const MemoryEvent*> events_of(const KinetoTrace& trace, std::uint8_t device) {
  std::vector<const MemoryEvent*> events;
  events.reserve(trace.memory.size());
  for (const MemoryEvent& event : trace.memory) {
    if (event.device == device) events.push_back(&event);
  }
  const auto earlier = [](const MemoryEvent* a, const MemoryEvent* b) { return a->at < b->at; };
  if (!std::is_sorted(events.begin(), events.end(), earlier))
    std::stable_sort(events.begin(), events.end(), earlier);
  return events;
}

// Believes the totals that the trace states: events may have been lost, totals include them.
void take_totals(const std::vector<const MemoryEvent*>& events, RecordedMemory& memory) {
  MemoryAccount& account = memory.allocated;
  account.curve.clear();
  account.peak = account.start;
  for (const MemoryEvent* event : events) {
    std::vector<MemorySample>& reserved = memory.reserved;
    if (event->reserved && (reserved.empty() || reserved.back().bytes != *event->reserved))
      reserved.push_back({event->at, *event->reserved});
    if (!event->allocated) continue;
    account.curve.push_back({event->at, *event->allocated});
    account.end = *event->allocated;
    if (account.end > account.peak) {
      account.peak = account.end;
      account.peak_at = event->at;
    }
  }
}

std::vector<std::optional<Bytes>> peaks_of(const std::vector<MemorySample>& curve,
                                           const std::vector<StepWindow>& steps) {
  std::vector<std::optional<Bytes>> peaks(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at_or_after = [&](Nanos at) {
      return std::lower_bound(curve.begin(), curve.end(), at,
                              [](const MemorySample& a, Nanos b) { return a.at < b; });
    };
    auto sample = at_or_after(steps[i].begin);
    if (sample != curve.begin()) --sample;  // the level at the step's begin
    for (const auto last = at_or_after(steps[i].end); sample < last; ++sample) {
      peaks[i] = std::max(peaks[i].value_or(Bytes{}), sample->bytes);
    }
  }
  return peaks;
}

// The level at which the first block of each step begins.
std::vector<std::optional<Bytes>> levels_before(const MemoryAccount& account, const Blocks& blocks,
                                                const std::vector<StepWindow>& steps) {
  std::vector<std::optional<Bytes>> levels(steps.size());
  for (const Occurrence& occurrence : blocks.forward) {
    const auto step = step_at(steps, occurrence.begin);
    if (!step || levels[*step]) continue;
    const auto after = std::lower_bound(account.curve.begin(), account.curve.end(), occurrence.begin,
                                        [](const MemorySample& sample, Nanos at) { return sample.at < at; });
    levels[*step] = after == account.curve.begin() ? account.start : std::prev(after)->bytes;
  }
  return levels;
}

// Watches the level between the last block's forward and the first one's backward.
class LossRise {
 public:
  LossRise(const Blocks& blocks, const std::vector<StepWindow>& steps)
      : steps_(steps), watches_(steps.size()) {
    for (const Occurrence& occurrence : blocks.forward) {
      const auto step = step_at(steps, occurrence.begin);
      if (!step) continue;
      std::optional<Nanos>& from = watches_[*step].from;
      from = std::max(from.value_or(occurrence.end), occurrence.end);
    }
  }

  void add(const MemoryEvent& event, const Context& context) {
    const auto step = step_at(steps_, event.at);
    if (!step) return;
    Watch& watch = watches_[*step];
    if (!watch.from || event.at < *watch.from) return;
    if (context.block) {
      watch.from.reset();
      return;
    }
    watch.level += event.bytes;
    watch.rise = std::max(watch.rise.value_or(Bytes{}), watch.level);
  }

  // By step; absent where nothing happened to memory.
  std::vector<std::optional<Bytes>> rises() const {
    std::vector<std::optional<Bytes>> all;
    for (const Watch& watch : watches_) all.push_back(watch.rise);
    return all;
  }

 private:
  struct Watch {
    std::optional<Nanos> from;  // the end of the forward; absent before it is known, and once it is over
    Bytes level;
    std::optional<Bytes> rise;
  };

  const std::vector<StepWindow>& steps_;
  std::vector<Watch> watches_;
};

bool in_backward(Phase phase) {
  return phase == Phase::backward || phase == Phase::recompute || phase == Phase::accumulate;
}

}  // namespace

std::optional<std::uint8_t> main_memory(const KinetoTrace& trace) {
  std::vector<std::int64_t> counts(trace.memory_devices.size());
  for (const MemoryEvent& event : trace.memory) ++counts[event.device];
  std::optional<std::uint8_t> best;
  const auto better = [&](std::size_t a, std::size_t b) {
    const bool host_a = trace.memory_devices[a].on_host(), host_b = trace.memory_devices[b].on_host();
    return host_a != host_b ? host_b : counts[a] > counts[b];
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!best || better(i, *best)) best = static_cast<std::uint8_t>(i);
  }
  return best;
}

RecordedMemory step_memory(const KinetoTrace& trace, std::uint8_t device, const Contexts& contexts,
                           const Blocks& blocks, const std::vector<StepWindow>& steps) {
  const std::vector<const MemoryEvent*> events = events_of(trace, device);
  const auto nobody = static_cast<std::uint32_t>(blocks.names.size());
  LossRise loss(blocks, steps);
  const auto operation = [&](std::size_t i) {
    const MemoryEvent& event = *events[i];
    const Context context = contexts.at({event.thread, event.at});
    const bool forward = context.phase == Phase::forward || context.phase == Phase::recompute;
    loss.add(event, context);
    return MemoryOperation{event.at, event.address, event.bytes,
                           forward ? context.block.value_or(nobody) : nobody};
  };
  std::optional<Bytes> start;
  const bool totals = !events.empty() && events.front()->allocated;
  if (totals) start = std::max(Bytes{}, *events.front()->allocated - events.front()->bytes);
  RecordedMemory memory{.allocated = account(events.size(), operation, start, blocks.names.size()),
                        .reserved = {},
                        .step_peaks = {},
                        .before_blocks = {},
                        .loss_rises = {}};
  memory.loss_rises = loss.rises();
  if (totals) take_totals(events, memory);
  memory.step_peaks = peaks_of(memory.allocated.curve, steps);
  memory.before_blocks = levels_before(memory.allocated, blocks, steps);
  return memory;
}

namespace {

// The forward of one block in one step and, where it was run again in the backward, the second time.
struct Pass {
  BlockId block;
  std::size_t step;
  BlockMemory memory;
  std::optional<BlockMemory> again;

  Bytes saved() const { return again ? saved_without_rerun(memory, *again) : memory.net(); }
  Bytes workspace() const { return (again ? *again : memory).rise - saved(); }
};

// What happened to memory on the host's thread meanwhile.
BlockMemory memory_during(const std::vector<const MemoryEvent*>& events, const Occurrence& occurrence) {
  std::vector<MemoryOperation> inside;
  auto event = std::lower_bound(events.begin(), events.end(), occurrence.begin,
                                [](const MemoryEvent* a, Nanos at) { return a->at < at; });
  for (; event != events.end() && (*event)->at < occurrence.end; ++event) {
    if ((*event)->thread == occurrence.thread)
      inside.push_back({(*event)->at, (*event)->address, (*event)->bytes});
  }
  std::unordered_set<std::uint64_t> known;
  if (occurrence.settled > occurrence.end) {
    for (const MemoryOperation& operation : inside) known.insert(operation.address);
  }
  for (; event != events.end() && (*event)->at < occurrence.settled; ++event) {
    const MemoryEvent& later = **event;
    if (later.thread != occurrence.thread) continue;
    if (later.bytes.value > 0) break;  // the backward goes on
    if (known.erase(later.address) > 0) inside.push_back({later.at, later.address, later.bytes});
  }
  return memory_of(inside);
}

std::vector<Pass> passes_of(const std::vector<const MemoryEvent*>& events, const Blocks& blocks,
                            const std::vector<StepWindow>& steps) {
  std::vector<Pass> passes;
  std::map<std::pair<BlockId, std::size_t>, std::vector<std::size_t>> waiting;  // not yet run again
  for (const Occurrence& occurrence : blocks.forward) {
    const auto step = step_at(steps, occurrence.begin);
    if (!step) continue;
    waiting[{occurrence.block, *step}].push_back(passes.size());
    passes.push_back({occurrence.block, *step, memory_during(events, occurrence), {}});
  }
  for (const Occurrence& occurrence : blocks.recomputed) {
    const auto step = step_at(steps, occurrence.begin);
    if (!step) continue;
    std::vector<std::size_t>& candidates = waiting[{occurrence.block, *step}];
    if (candidates.empty()) continue;
    passes[candidates.back()].again = memory_during(events, occurrence);
    candidates.pop_back();
  }
  std::vector<BlockMemory*> memories;
  for (Pass& pass : passes) {
    memories.push_back(&pass.memory);
    if (pass.again) memories.push_back(&*pass.again);
  }
  even_out(memories);
  return passes;
}

// Sums of one figure by block and step, and their medians.
class Table {
 public:
  Table(std::size_t blocks, std::size_t steps) : rows_(blocks, std::vector<std::optional<Bytes>>(steps)) {}

  void add(BlockId block, std::size_t step, Bytes bytes) { at(block, step) += bytes; }
  void raise(BlockId block, std::size_t step, Bytes bytes) {
    at(block, step) = std::max(at(block, step), bytes);
  }

  Bytes median_of(BlockId block) const {
    std::vector<Bytes> present;
    for (const std::optional<Bytes>& bytes : rows_[block]) {
      if (bytes) present.push_back(*bytes);
    }
    return median(std::move(present));
  }

 private:
  Bytes& at(BlockId block, std::size_t step) {
    if (!rows_[block][step]) rows_[block][step] = Bytes{};
    return *rows_[block][step];
  }

  std::vector<std::vector<std::optional<Bytes>>> rows_;
};

// Follows the backward: runs of events of one block, and which of its allocations live on. What is freed
// outside of it before it ended, or before the step's optimizer began, was handed from one block to the next.
class BackwardMemory {
 public:
  BackwardMemory(std::size_t blocks, std::size_t steps) : gradient(blocks, steps), rise(blocks, steps) {}

  Table gradient, rise;

  void add(const MemoryEvent& event, const Context& context, std::size_t step) {
    const bool own = context.phase == Phase::backward && context.block;
    if (!own) {
      running_.reset();
    } else if (running_ != context.block) {
      running_ = context.block;
      level_ = Bytes{};
    }
    if (own) {
      level_ += event.bytes;
      rise.raise(*context.block, step, level_);
    }
    follow(event, context, step);
  }

  // What is alive at the end of the recording is alive after its backward.
  void finish() {
    settle();
    for (const auto& [address, made] : made_) gradient.add(made.block, made.step, made.bytes);
    made_.clear();
  }

 private:
  struct Made {
    BlockId block;
    std::size_t step;
    Bytes bytes;
  };

  void follow(const MemoryEvent& event, const Context& context, std::size_t step) {
    const bool optimizer_begins = context.phase == Phase::optimizer && optimized_ != step;
    if (optimizer_begins) optimized_ = step;
    if (optimizer_begins || in_backward(context.phase)) pass_over(step);
    if (event.address == 0) return;
    const auto found = made_.find(event.address);
    if (found != made_.end()) {
      if (!in_backward(context.phase)) freed_outside_.push_back(found->second);
      made_.erase(found);
    }
    if (event.bytes.value > 0 && context.phase == Phase::backward && context.block) {
      made_[event.address] = {*context.block, step, event.bytes};
    }
  }

  // What was freed in `step` so far is no gradient of a parameter.
  void pass_over(std::size_t step) {
    std::erase_if(freed_outside_, [&](const Made& made) { return made.step == step; });
    settle();
  }

  void settle() {
    for (const Made& made : freed_outside_) gradient.add(made.block, made.step, made.bytes);
    freed_outside_.clear();
  }

  std::optional<BlockId> running_;
  Bytes level_;
  std::vector<Made> freed_outside_;
  std::optional<std::size_t> optimized_;  // the last step whose optimizer began
  std::map<std::uint64_t, Made> made_;
};

}  // namespace

std::vector<BlockBytes> block_bytes(const KinetoTrace& trace, std::uint8_t device, const Contexts& contexts,
                                    const Blocks& blocks, const std::vector<StepWindow>& steps) {
  const std::vector<const MemoryEvent*> events = events_of(trace, device);
  const std::size_t count = blocks.names.size();
  Table saved(count, steps.size()), output(count, steps.size()), workspace(count, steps.size());
  for (const Pass& pass : passes_of(events, blocks, steps)) {
    saved.add(pass.block, pass.step, pass.saved());
    output.raise(pass.block, pass.step, pass.memory.output());
    workspace.raise(pass.block, pass.step, pass.workspace());
  }
  BackwardMemory backward(count, steps.size());
  for (const MemoryEvent* event : events) {
    if (const auto step = step_at(steps, event->at)) {
      backward.add(*event, contexts.at({event->thread, event->at}), *step);
    }
  }
  backward.finish();
  std::vector<BlockBytes> all;
  for (BlockId block = 0; block < count; ++block) {
    all.push_back({.saved = saved.median_of(block),
                   .output = output.median_of(block),
                   .forward_workspace = workspace.median_of(block),
                   .gradient = backward.gradient.median_of(block),
                   .backward_rise = backward.rise.median_of(block)});
  }
  return all;
}

}  // namespace stowage
