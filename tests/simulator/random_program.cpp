#include "tests/simulator/random_program.h"

#include <random>
#include <vector>

#include "plan/program_builder.h"
#include "tests/simulator/hand_made.h"

namespace stowage::tests {
namespace {

// Unlike the standard distributions, the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(generator_() % limit); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::int64_t often_zero(std::uint32_t limit) { return one_in(3) ? 0 : below(limit); }

 private:
  std::mt19937_64 generator_;
};

class Scribbler {
 public:
  explicit Scribbler(std::uint64_t seed) : dice_(seed), steps_(1 + dice_.below(12)) {}

  Program run() {
    for (StepId step = 0; step < steps_; ++step)
      builder_.compute(StepKind::backward, step, {dice_.often_zero(10)});
    for (std::uint32_t copies = dice_.below(16); copies > 0; --copies) scribble_copy();
    for (std::uint32_t buffers = dice_.below(10); buffers > 0; --buffers) scribble_buffer();
    TransferSettings transfer;
    transfer.h2d_streams = 1 + dice_.below(2);
    transfer.d2h_streams = 1 + dice_.below(2);
    Program program = builder_.finish(transfer);
    if (dice_.one_in(2)) make_copies_wait_for_compute(program);
    return program;
  }

 private:
  Edge edge() { return static_cast<Edge>(dice_.below(edge_count)); }
  // A step that tends to come after `from`, so that most programs end.
  StepId step_from(StepId from) {
    return dice_.one_in(40) ? dice_.below(steps_) : from + dice_.below(steps_ - from);
  }

  Buffer any_buffer() {
    const BufferKind kind = static_cast<BufferKind>(dice_.below(buffer_kind_count));
    return {dice_.one_in(3)   ? Space::host
            : dice_.one_in(6) ? Space::disk
                              : Space::device,
            kind,
            0,
            {},
            {dice_.often_zero(300)}};
  }

  void scribble_copy() {
    const Trigger issue{dice_.below(steps_), edge()};
    const Bytes bytes{dice_.often_zero(20)};
    const bool inward = dice_.one_in(2);
    const StepKind kinds[] = {StepKind::store_saved, StepKind::store_weights, StepKind::restore_saved,
                              StepKind::load_weights};
    const StepKind kind = kinds[(inward ? 2 : 0) + dice_.below(2)];
    const std::optional<CopyId> after =
        count_ > 0 && dice_.one_in(4) ? std::optional<CopyId>(dice_.below(count_)) : std::nullopt;
    const bool of_disk = dice_.one_in(4);
    const Lane lane =
        inward ? (of_disk ? Lane::disk_read : Lane::h2d) : (of_disk ? Lane::disk_write : Lane::d2h);
    const CopyId copy = builder_.copy({kind, lane, count_, {}, {}, bytes, issue}, after);
    ++count_;
    const BufferId buffer = builder_.buffer(any_buffer());
    builder_.alloc_at_issue(buffer, copy);
    if (issue.step + 1 < steps_ && dice_.one_in(2)) {
      const StepId waits = step_from(issue.step + 1);
      builder_.wait(waits, copy);
      builder_.free(buffer, {waits, Edge::end});
    } else {
      builder_.free_after(buffer, copy);
    }
  }

  void scribble_buffer() {
    const StepId from = dice_.below(steps_), to = from + dice_.below(steps_ - from);
    if (dice_.one_in(3)) {
      const BufferId id = builder_.initial(any_buffer());
      if (dice_.one_in(2)) builder_.free(id, {to, edge()});
      return;
    }
    const BufferId id = builder_.buffer(any_buffer());
    builder_.alloc(id, {from, dice_.one_in(2) ? Edge::ready : Edge::begin});
    builder_.free(id, {to, to == from ? Edge::end : edge()});
  }

  // The builder knows no such waits; they go where a copy has none.
  void make_copies_wait_for_compute(Program& program) {
    for (StepId step = steps_; step < program.steps.size(); ++step) {
      if (program.wait_ranges[step].size() > 0 || !dice_.one_in(4)) continue;
      const auto end = static_cast<std::uint32_t>(program.waits.size());
      program.wait_ranges[step] = {end, end + 1};
      program.waits.push_back(dice_.below(dice_.one_in(10) ? steps_ : program.steps[step].issue.step + 1));
    }
  }

  Dice dice_;
  const StepId steps_;
  ProgramBuilder builder_;
  CopyId count_ = 0;
};

}  // namespace

Program random_program(std::uint64_t seed) {
  return Scribbler(seed).run();
}

Machine random_machine(std::uint64_t seed, bool shared) {
  Dice dice(seed);
  const std::int64_t rates[] = {1'000'000'000, 500'000'000, 3'000'000'000, 300'000'000};
  const PinnedRounding roundings[] = {PinnedRounding::exact, PinnedRounding::pow2, PinnedRounding::slab};
  Machine machine = plain_machine();
  machine.links.h2d = {{rates[dice.below(4)]}, {dice.often_zero(5)}};
  machine.links.d2h = {{rates[dice.below(4)]}, {dice.often_zero(5)}};
  machine.disk = Disk{
      machine.host.memory, {{rates[dice.below(4)]}, {dice.often_zero(5)}}, {{rates[dice.below(4)]}, {1}}};
  machine.host.pinned_rounding = roundings[dice.below(3)];
  if (shared) {
    machine.links.duplex = 1.0 - dice.below(10) / 10.0;
    machine.links.compute_slowdown = dice.below(10) / 10.0;
  }
  return machine;
}

}  // namespace stowage::tests
