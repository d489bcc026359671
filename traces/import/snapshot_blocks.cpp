#include "traces/import/snapshot_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "traces/import/medians.h"

namespace stowage {
namespace {

// Where an allocation ends: the next free of its address; the end of the log where there is none.
std::vector<std::size_t> ends_of(const std::vector<MemoryOperation>& log) {
  std::vector<std::size_t> ends(log.size(), log.size());
  std::unordered_map<std::uint64_t, std::size_t> live;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].bytes.value > 0) {
      live[log[i].address] = i;
    } else if (const auto found = live.find(log[i].address); found != live.end()) {
      ends[found->second] = i;
      live.erase(found);
    }
  }
  return ends;
}

// A pass, what it kept, and the operations of its backward.
struct Round {
  const SnapshotPass* pass;
  BlockMemory memory;
  std::optional<std::size_t> backward_first, backward_last;
  Bytes gradient, backward_rise;
};

class Rounds {
 public:
  explicit Rounds(const SnapshotHistory& history) : history_(&history), ends_(ends_of(history.log)) {
    for (const SnapshotPass& pass : history.passes) add(pass);
    std::vector<BlockMemory*> memories;
    for (Round& round : rounds_) memories.push_back(&round.memory);
    even_out(memories);
    for (std::size_t first = 0; first < rounds_.size();) {
      std::size_t last = first;
      while (last < rounds_.size() && rounds_[last].pass->step == rounds_[first].pass->step) ++last;
      follow_backward(first, last);
      first = last;
    }
  }

  const std::vector<Round>& all() const { return rounds_; }

  // What of a step is no block's.
  StepWork around_blocks(std::size_t step, Nanos begin, Nanos end) const {
    Nanos in_forward;
    const Round *earliest = nullptr, *latest = nullptr;
    for (const Round& round : rounds_) {
      if (round.pass->step != step) continue;
      if (!earliest) earliest = &round;
      latest = &round;
      in_forward += time_between(round.pass->first, round.pass->last);
    }
    if (!latest) return {.prologue = {}, .epilogue = end - begin, .backward = {}, .optimizer = {}};
    const Nanos first = time_at(earliest->pass->first);
    const Nanos backward_begin = latest->backward_first ? time_at(*latest->backward_first) : end;
    const Nanos backward_end = earliest->backward_last ? time_at(*earliest->backward_last) : end;
    const auto positive = [](Nanos nanos) { return std::max(nanos, Nanos{}); };
    return {.prologue = positive(first - begin),
            .epilogue = positive(backward_begin - first - in_forward),
            .backward = {},
            .optimizer = latest->backward_first ? positive(end - backward_end) : Nanos{}};
  }

  Nanos time_between(std::size_t first, std::size_t last) const {
    if (history_->log.empty()) return {};
    return std::max(Nanos{}, time_at(last) - time_at(first));
  }

 private:
  // Of an operation; of the last one for what lies beyond.
  Nanos time_at(std::size_t operation) const {
    return history_->log[std::min(operation, history_->log.size() - 1)].at;
  }

  void add(const SnapshotPass& pass) {
    const std::span operations = std::span(history_->log).subspan(pass.first, pass.last - pass.first);
    rounds_.push_back({&pass, memory_of(operations), std::nullopt, std::nullopt, {}, {}});
    Round& round = rounds_.back();
    for (std::size_t i = pass.first; i < pass.last; ++i) {
      const bool kept = history_->log[i].bytes.value > 0 && ends_[i] >= pass.last && ends_[i] < ends_.size();
      if (!kept) continue;
      round.backward_first = std::min(round.backward_first.value_or(ends_[i]), ends_[i]);
      round.backward_last = std::max(round.backward_last.value_or(ends_[i]), ends_[i]);
    }
  }

  // Of one step. A block's backward lasts until that of the block before it begins.
  void follow_backward(std::size_t first, std::size_t last) {
    bool reverse = last - first >= 2;
    for (std::size_t i = first; i < last; ++i) {
      reverse = reverse && rounds_[i].backward_first;
      if (reverse && i > first) reverse = *rounds_[i].backward_first < *rounds_[i - 1].backward_first;
    }
    if (!reverse) {
      for (std::size_t i = first; i < last; ++i) rounds_[i].backward_first.reset();
      return;
    }
    const std::size_t step_end = *rounds_[first].backward_last;
    for (std::size_t i = first; i < last; ++i) {
      rounds_[i].backward_last = i == first ? step_end : *rounds_[i - 1].backward_first;
      measure_backward(rounds_[i], step_end);
    }
  }

  void measure_backward(Round& round, std::size_t step_end) {
    Bytes level;
    for (std::size_t i = *round.backward_first; i < *round.backward_last; ++i) {
      const MemoryOperation& operation = history_->log[i];
      level += operation.bytes;
      round.backward_rise = std::max(round.backward_rise, level);
      if (operation.bytes.value > 0 && ends_[i] > step_end) round.gradient += operation.bytes;
    }
  }

  const SnapshotHistory* history_;
  std::vector<std::size_t> ends_;
  std::vector<Round> rounds_;
};

// The figures of one block in all its rounds.
struct Samples {
  std::vector<Nanos> forward, backward;
  std::vector<Bytes> saved, output, workspace, gradient, rise;
};

void add_round(const Rounds& rounds, const Round& round, Samples& samples, ImportedBlock& block) {
  BlockWork& work = block.passes[round.pass->step];
  work.ran = true;
  work.forward = rounds.time_between(round.pass->first, round.pass->last);
  if (round.backward_first) work.backward = rounds.time_between(*round.backward_first, *round.backward_last);
  samples.forward.push_back(work.forward);
  samples.backward.push_back(work.backward);
  samples.saved.push_back(round.memory.net());
  samples.output.push_back(round.memory.output());
  samples.workspace.push_back(round.memory.rise - round.memory.net());
  samples.gradient.push_back(round.gradient);
  samples.rise.push_back(round.backward_rise);
}

}  // namespace

SnapshotBlocks snapshot_blocks(const SnapshotHistory& history, const std::vector<ImportedStep>& steps) {
  const Rounds rounds(history);
  std::vector<Samples> samples(history.blocks);
  SnapshotBlocks found;
  std::vector<ImportedBlock>& blocks = found.blocks;
  blocks.resize(history.blocks);
  for (ImportedBlock& block : blocks) block.passes.resize(steps.size());
  for (const Round& round : rounds.all())
    add_round(rounds, round, samples[round.pass->block], blocks[round.pass->block]);
  for (std::size_t id = 0; id < blocks.size(); ++id) {
    Samples& of = samples[id];
    blocks[id].name = "block." + std::to_string(id);
    blocks[id].group = "block";
    blocks[id].forward = median(std::move(of.forward));
    blocks[id].backward = median(std::move(of.backward));
    blocks[id].bytes = {.saved = median(std::move(of.saved)),
                        .output = median(std::move(of.output)),
                        .forward_workspace = median(std::move(of.workspace)),
                        .gradient = median(std::move(of.gradient)),
                        .backward_rise = median(std::move(of.rise))};
  }
  for (std::size_t step = 0; step < steps.size(); ++step)
    found.steps.push_back(rounds.around_blocks(step, steps[step].begin, steps[step].end));
  return found;
}

}  // namespace stowage
