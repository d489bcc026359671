#include "plan/program_parts.h"

#include <algorithm>
#include <array>

namespace stowage {
namespace {

StepId first_of(const Program& program, StepKind kind) {
  const auto steps = program.lane(Lane::compute);
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.kind == kind; });
  return static_cast<StepId>(found - steps.begin());
}

// Copies a program up to an edge: what the compute lane does before a step, and the copies issued by then.
// Along a lane issues ascend, so that of every lane the first steps are kept.
class FirstPart {
 public:
  FirstPart(const Program& whole, StepId end) : whole_(whole), part_(whole) {
    part_.steps.clear();
    part_.wait_ranges.clear();
    part_.waits.clear();
    part_.effect_ranges.clear();
    part_.effects.clear();
    for (int lane = 0; lane < lane_count; ++lane) {
      const Range from = whole.lanes[lane];
      Range& to = part_.lanes[lane];
      to.begin = to.end = static_cast<StepId>(part_.steps.size());
      for (StepId step = from.begin; step != from.end; ++step) {
        const bool reached = lane == 0 ? step < end : whole.steps[step].issue.step < end;
        if (!reached) break;
        shift_[lane] = from.begin - to.begin;
        part_.steps.push_back(whole.steps[step]);
        ++to.end;
      }
    }
  }

  Program take() {
    for (int lane = 0; lane < lane_count; ++lane)
      for (StepId step = part_.lanes[lane].begin; step != part_.lanes[lane].end; ++step)
        copy_bonds(step + shift_[lane]);
    return std::move(part_);
  }

 private:
  StepId moved(StepId step) const {
    int lane = 0;
    while (step >= whole_.lanes[lane].end) ++lane;
    return step - shift_[lane];
  }

  // Waits and effects.
  void copy_bonds(StepId step) {
    part_.wait_ranges.push_back(range_of(part_.waits, whole_.waits_of(step)));
    for (StepId& wait : std::span(part_.waits).subspan(part_.wait_ranges.back().begin)) wait = moved(wait);
    part_.effect_ranges.emplace_back();
    for (int edge = 0; edge < edge_count; ++edge)
      part_.effect_ranges.back()[edge] =
          range_of(part_.effects, whole_.effects_at(step, static_cast<Edge>(edge)));
  }
  template <class T>
  static Range range_of(std::vector<T>& all, std::span<const T> more) {
    const auto begin = static_cast<std::uint32_t>(all.size());
    all.insert(all.end(), more.begin(), more.end());
    return {begin, static_cast<std::uint32_t>(all.size())};
  }

  const Program& whole_;
  Program part_;
  std::array<StepId, lane_count> shift_{};
};

}  // namespace

Program with_new_optimizer_state(Program program) {
  const auto is_state = [&](BufferId id) {
    const Buffer& buffer = program.buffers[id];
    return buffer.kind == BufferKind::optimizer_state && buffer.space == Space::device;
  };
  std::vector<MemoryEffect> allocations;
  for (BufferId id : program.initial)
    if (is_state(id)) allocations.push_back({id, true});
  std::erase_if(program.initial, is_state);
  // Allocations of an edge come after its frees: at the end of its range. All ranges behind move on.
  Range& range = program.effect_ranges[first_of(program, StepKind::optimizer)][static_cast<int>(Edge::begin)];
  const std::uint32_t at = range.end;
  const auto count = static_cast<std::uint32_t>(allocations.size());
  range.end += count;
  for (auto& edges : program.effect_ranges) {
    for (Range& other : edges) {
      if (&other == &range || other.begin < at) continue;
      other.begin += count;
      other.end += count;
    }
  }
  program.effects.insert(program.effects.begin() + at, allocations.begin(), allocations.end());
  return program;
}

// What a plan that drops everything does before its first backward step. No copy brings anything back by
// then, and nothing is saved.
Program compile_forward(const BlockTable& table, const Plan& plan) {
  Plan dropping = plan;
  for (BlockDecision& block : dropping.blocks) {
    block.activation = Activation::recompute;
    block.segment = 0;
    block.scope.reset();
    block.offload.clear();
    block.offload_input = false;
  }
  const Program whole = compile(table, dropping);
  return FirstPart(whole, first_of(whole, StepKind::epilogue)).take();
}

}  // namespace stowage
