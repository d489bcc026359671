#include "traces/import/snapshot_blocks.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "traces/import/medians.h"

namespace stowage {
namespace {

// A pass, what it kept or, where it was run again, what the second time kept; and the operations of its
// backward.
struct Round {
  const SnapshotPass* pass;
  BlockMemory memory;                      // of the forward
  const SnapshotRerun* again = nullptr;    // absent where it was not run again
  BlockMemory memory_again;                // of the second time
  std::vector<std::size_t> frees;          // of what it kept beside its output, as far as it was freed
  std::optional<std::size_t> output_free;  // of its output
  std::optional<std::size_t> run_begin;    // of the last of those that ran again together: when
  std::optional<std::size_t> backward_first, backward_last;
  Bytes gradient, backward_rise;

  const BlockMemory& saving() const { return again ? memory_again : memory; }
  // Its output included.
  Bytes saved() const { return again ? saved_without_rerun(memory, memory_again) : memory.net(); }
  // Though it made more, and a backward followed.
  bool kept_nothing_else() const {
    return !again && backward_first && memory.kept.size() <= 1 && memory.made >= 3;
  }
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
  explicit Rounds(const SnapshotHistory& history)
      : history_(&history), ends_(ends_of(history.log)), rerun_(history.log.size()) {
    for (const SnapshotPass& pass : history.passes) add(pass);
    const std::vector<SnapshotRerun>& reruns = history.again.reruns;
    for (std::size_t i = 0; i < reruns.size(); ++i)
      add(reruns[i], i + 1 < reruns.size() && reruns[i + 1].head == reruns[i].head);
    std::vector<BlockMemory*> memories;
    for (Round& round : rounds_) {
      memories.push_back(&round.memory);
      if (round.again) memories.push_back(&round.memory_again);
    }
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

  // Without what was run again meanwhile.
  Nanos backward_time(const Round& round) const {
    Nanos time = time_between(*round.backward_first, *round.backward_last);
    for (const SnapshotRerun& rerun : history_->again.reruns) {
      if (rerun.first >= *round.backward_first && rerun.first < *round.backward_last)
        time -= time_between(rerun.first, rerun.last);
    }
    return std::max(time, Nanos{});
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
    Round& round = rounds_.emplace_back();
    round.pass = &pass;
    round.memory = memory_in(pass.first, pass.last);
    const std::vector<std::size_t> kept = kept_in(history_->log, ends_, pass.first, pass.last);
    if (kept.empty()) return;
    for (const std::size_t made : kept) note_free(made, round.frees);
    if (ends_[kept.back()] < ends_.size()) {
      round.output_free = ends_[kept.back()];
      round.frees.pop_back();
    }
  }

  // `goes_on`: the block after it runs again next.
  void add(const SnapshotRerun& rerun, bool goes_on) {
    Round& round = rounds_[rerun.pass];
    round.again = &rerun;
    round.memory_again = memory_in(rerun.first, rerun.last);
    round.frees.clear();
    const std::vector<std::size_t> kept = kept_in(history_->log, ends_, rerun.first, rerun.last);
    for (const std::size_t made : kept) note_free(made, round.frees);
    if (makes_output_again(round.memory, round.memory_again) && ends_[kept.back()] < ends_.size()) {
      round.frees.pop_back();
      if (goes_on) round.output_free = ends_[kept.back()];
    }
    if (!goes_on) round.run_begin = rounds_[rerun.head].again->first;
    std::fill(rerun_.begin() + static_cast<std::ptrdiff_t>(rerun.first),
              rerun_.begin() + static_cast<std::ptrdiff_t>(rerun.last), true);
  }

  void note_free(std::size_t made, std::vector<std::size_t>& frees) const {
    if (ends_[made] < ends_.size()) frees.push_back(ends_[made]);
  }

  BlockMemory memory_in(std::size_t first, std::size_t last) const {
    return memory_of(std::span(history_->log).subspan(first, last - first));
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
      if (rounds[i].run_begin) begins.back() = std::min(begins.back(), *rounds[i].run_begin);
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
      if (rerun_[i]) continue;
      const MemoryOperation& operation = history_->log[i];
      level += operation.bytes;
      round.backward_rise = std::max(round.backward_rise, level);
      if (operation.bytes.value > 0 && ends_[i] > step_end) round.gradient += operation.bytes;
    }
  }

  const SnapshotHistory* history_;
  std::vector<std::size_t> ends_;
  std::vector<bool> rerun_;  // by operation
  std::vector<Round> rounds_;
};

// The figures of one block in all its rounds.
struct Samples {
  std::vector<Nanos> forward, backward, recompute;
  std::vector<Bytes> saved, output, workspace, gradient, rise;
};

void add_round(const Rounds& rounds, const Round& round, Samples& samples, ImportedBlock& block) {
  BlockWork& work = block.passes[round.pass->step];
  work.ran = true;
  work.forward = rounds.time_between(round.pass->first, round.pass->last);
  if (round.again) work.recompute = rounds.time_between(round.again->first, round.again->last);
  if (round.backward_first) work.backward = rounds.backward_time(round);
  samples.forward.push_back(work.forward);
  samples.backward.push_back(work.backward);
  if (round.again) samples.recompute.push_back(work.recompute);
  samples.saved.push_back(round.saved());
  samples.output.push_back(round.memory.output());
  samples.workspace.push_back(round.saving().rise - round.saved());
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
    blocks[id].recompute = median(std::move(of.recompute));
    blocks[id].bytes = {.saved = median(std::move(of.saved)),
                        .output = median(std::move(of.output)),
                        .forward_workspace = median(std::move(of.workspace)),
                        .gradient = median(std::move(of.gradient)),
                        .backward_rise = median(std::move(of.rise))};
  }
  for (const SnapshotRerun& rerun : history.again.reruns)
    blocks[history.passes[rerun.pass].block].segment = history.passes[rerun.head].block;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    found.steps.push_back(rounds.around_blocks(step, steps[step].begin, steps[step].end));
    found.loss_rises.push_back(rounds.loss_rise(step));
  }
  if (std::any_of(rounds.all().begin(), rounds.all().end(), std::mem_fn(&Round::kept_nothing_else)))
    found.doubt =
        "blocks keep nothing but their output until the backward: if they are run again in it, the stacks do "
        "not show it";
  return found;
}

}  // namespace stowage
