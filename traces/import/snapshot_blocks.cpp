#include "traces/import/snapshot_blocks.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
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
  std::vector<std::size_t> frees;          // of what it kept beside its output, as far as it was freed
  std::optional<std::size_t> output_free;  // of its output
  std::optional<std::size_t> backward_first, backward_last;
  Bytes gradient, backward_rise;

  // When the block's backward has begun for certain.
  std::optional<std::size_t> first_free() const {
    return frees.empty() ? output_free : std::optional(*std::min_element(frees.begin(), frees.end()));
  }
  std::size_t last_free() const {
    return frees.empty() ? *output_free : *std::max_element(frees.begin(), frees.end());
  }
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

  // How far the level rises between the forward of a step's last block and its backward.
  std::optional<Bytes> loss_rise(std::size_t step) const {
    const auto latest = std::find_if(rounds_.rbegin(), rounds_.rend(),
                                     [&](const Round& round) { return round.pass->step == step; });
    if (latest == rounds_.rend() || !latest->backward_first) return std::nullopt;
    Bytes level, highest;
    for (std::size_t i = latest->pass->last; i < *latest->backward_first; ++i) {
      level += history_->log[i].bytes;
      highest = std::max(highest, level);
    }
    return highest;
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
    Round& round = rounds_.emplace_back(Round{&pass, memory_of(operations), {}, {}, {}, {}, {}, {}});
    std::optional<std::size_t> output;
    for (std::size_t i = pass.first; i < pass.last; ++i) {
      if (history_->log[i].bytes.value <= 0 || ends_[i] < pass.last) continue;
      if (output && ends_[*output] < ends_.size()) round.frees.push_back(ends_[*output]);
      output = i;
    }
    if (output && ends_[*output] < ends_.size()) round.output_free = ends_[*output];
  }

  // The backward of a block begins when that of the next one has freed what that block kept, and the output
  // that went into it; absent where neither is freed in between.
  std::optional<std::size_t> backward_begin(const Round& round, const Round* next,
                                            std::size_t forward_end) const {
    const std::size_t first = *round.first_free();
    std::size_t begin = forward_end;
    const auto pass_over = [&](std::size_t free) {
      if (free < first) begin = std::max(begin, free + 1);
    };
    if (next) std::for_each(next->frees.begin(), next->frees.end(), pass_over);
    if (round.output_free) pass_over(*round.output_free);
    return begin > forward_end ? std::optional(begin) : std::nullopt;
  }

  // By round. Where a begin cannot be told it is as long before the first free as in the middle of the
  // others.
  std::vector<std::size_t> backward_begins(std::span<const Round> rounds) const {
    const std::size_t forward_end = rounds.back().pass->last;
    std::vector<std::optional<std::size_t>> told;
    std::vector<std::size_t> leads;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const Round* next = i + 1 < rounds.size() ? &rounds[i + 1] : nullptr;
      told.push_back(backward_begin(rounds[i], next, forward_end));
      if (told.back()) leads.push_back(*rounds[i].first_free() - *told.back());
    }
    std::sort(leads.begin(), leads.end());
    const std::size_t lead = leads.empty() ? 0 : leads[leads.size() / 2];
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const std::size_t first = *rounds[i].first_free();
      begins.push_back(
          told[i].value_or(std::max(first - std::min(first, lead), std::min(first, forward_end))));
    }
    return begins;
  }

  // Of one step. A block's backward lasts until that of the block before it begins.
  void follow_backward(std::size_t first, std::size_t last) {
    const std::span rounds = std::span(rounds_).subspan(first, last - first);
    const auto freed = [](const Round& round) { return round.first_free().has_value(); };
    if (rounds.size() < 2 || !std::all_of(rounds.begin(), rounds.end(), freed)) return;
    const std::vector<std::size_t> begins = backward_begins(rounds);
    if (std::adjacent_find(begins.begin(), begins.end(), std::less_equal<>()) != begins.end()) return;
    const std::size_t step_end = rounds.front().last_free();
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      rounds[i].backward_first = begins[i];
      rounds[i].backward_last = i == 0 ? std::max(step_end, begins[0]) : begins[i - 1];
      measure_backward(rounds[i], step_end);
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
  for (std::size_t step = 0; step < steps.size(); ++step) {
    found.steps.push_back(rounds.around_blocks(step, steps[step].begin, steps[step].end));
    found.loss_rises.push_back(rounds.loss_rise(step));
  }
  return found;
}

}  // namespace stowage
