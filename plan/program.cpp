#include "plan/program.h"

namespace stowage {
namespace {

template <class T>
std::span<const T> part(const std::vector<T>& all, Range range) {
  return std::span(all).subspan(range.begin, range.size());
}

// "B3", "store_saved 3.0": enough to find the step again.
std::string label(const Step& step) {
  std::string text = name_of(step.kind);
  if (step.block) text += " " + std::to_string(*step.block);
  if (step.storage) text += "." + std::to_string(*step.storage);
  if (step.layer) text += " layer " + std::to_string(*step.layer);
  return text;
}

}  // namespace

std::span<const Step> Program::lane(Lane which) const {
  return part(steps, lanes[static_cast<int>(which)]);
}

std::span<const StepId> Program::waits_of(StepId step) const {
  return part(waits, wait_ranges[step]);
}

std::span<const MemoryEffect> Program::effects_at(StepId step, Edge edge) const {
  return part(effects, effect_ranges[step][static_cast<int>(edge)]);
}

std::optional<BufferId> host_side(const Program& program, StepId copy) {
  const bool stores = fills_host(program.steps[copy].lane);
  for (const MemoryEffect& effect : program.effects_at(copy, stores ? Edge::ready : Edge::end))
    if (const Buffer& buffer = program.buffers[effect.buffer];
        effect.alloc == stores && is_pinnable(buffer) && buffer.bytes == program.steps[copy].bytes)
      return effect.buffer;
  return {};
}

bool uses_disk(const Program& program) {
  return !program.lane(Lane::disk_read).empty() || !program.lane(Lane::disk_write).empty();
}

std::string describe(const Program& program) {
  static constexpr const char* edges[] = {"ready", "begin", "end"};
  std::string text;
  for (StepId id = 0; id < program.steps.size(); ++id) {
    const Step& step = program.steps[id];
    text += std::string(name_of(step.lane)) + "  " + label(step);
    if (step.is_copy())
      text += "  " + std::to_string(step.bytes.value) + " B  at " + edges[static_cast<int>(step.issue.edge)] +
              " of " + label(program.steps[step.issue.step]);
    else
      text += "  " + std::to_string(step.duration.value) + " ns";
    for (StepId wait : program.waits_of(id)) text += "  after " + label(program.steps[wait]);
    text += "\n";
  }
  return text;
}

}  // namespace stowage
