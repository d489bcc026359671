#include "simulator/composition.h"

#include <algorithm>
#include <array>
#include <map>

#include "plan/pinned_size.h"
#include "simulator/step_times.h"

namespace stowage {
namespace {

struct LevelChange {
  Nanos at;
  Bytes by;
};

using LevelChanges = std::vector<LevelChange>;

// When each step ran, and which copies are pageable. Absent where the spans are not the program's steps.
struct Witness {
  StepTimes times;
  std::vector<bool> pageable;  // for each buffer
};

bool is_of(const Span& span, const Step& step) {
  return span.kind == step.kind && span.block == step.block && span.storage == step.storage &&
         span.layer == step.layer;
}

std::optional<Witness> witness_of(const Program& program, const Timeline& timeline) {
  Witness witness{StepTimes(program.steps.size()), std::vector<bool>(program.buffers.size())};
  std::array<StepId, lane_count> next{};
  for (std::size_t lane = 0; lane < lane_count; ++lane) next[lane] = program.lanes[lane].begin;
  for (const Span& span : timeline.spans) {
    const auto lane = static_cast<std::size_t>(span.lane);
    const StepId step = next[lane]++;
    if (step >= program.lanes[lane].end || !is_of(span, program.steps[step])) return std::nullopt;
    witness.times[step] = {span.begin, span.end};
    if (const auto buffer = span.pageable ? host_side(program, step) : std::nullopt)
      witness.pageable[*buffer] = true;
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    if (next[lane] != program.lanes[lane].end) return std::nullopt;
  return witness;
}

// Changes of one instant count as one; the first sample is at 0.
std::vector<MemorySample> levels(LevelChanges changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LevelChange& a, const LevelChange& b) { return a.at < b.at; });
  std::vector<MemorySample> samples{{{}, {}}};
  for (auto change = changes.begin(); change != changes.end();) {
    const Nanos at = change->at;
    Bytes level = samples.back().bytes;
    for (; change != changes.end() && change->at == at; ++change) level += change->by;
    if (at == samples.back().at)
      samples.back().bytes = level;
    else if (level != samples.back().bytes)
      samples.push_back({at, level});
  }
  return samples;
}

bool is_flat_zero(const std::vector<MemorySample>& samples) {
  return samples.size() == 1 && samples.front().bytes == Bytes{};
}

// The changes of a step, by what they are of.
class KindLog {
 public:
  KindLog(const Program& program, const Witness& witness, PinnedRounding rounding)
      : program_(program), witness_(witness), rounding_(rounding) {
    for (const BufferId buffer : program.initial) note(buffer, Nanos{}, true);
    for (StepId step = 0; step < program.steps.size(); ++step)
      for (const Edge edge : {Edge::ready, Edge::begin, Edge::end})
        for (const MemoryEffect& effect : program.effects_at(step, edge)) {
          const Nanos at = edge_of(program, witness.times, step, edge);
          if (effect.alloc || program.buffers[effect.buffer].holders == 1)
            note(effect.buffer, at, effect.alloc);
          else
            let_go(effect.buffer, at);
        }
    for (const auto& [buffer, life] : shared_)
      if (life.holders == 0) note(buffer, life.until, false);
  }

  Composition composition() && { return {curves(device_), curves(host_), levels(std::move(pinned_))}; }

 private:
  using ByKind = std::array<LevelChanges, buffer_kind_count>;
  // Of a buffer that several hold: those who still do, and until when the others did.
  struct SharedLife {
    std::uint32_t holders;
    Nanos until;
  };

  void let_go(BufferId id, Nanos at) {
    SharedLife& life = shared_.try_emplace(id, SharedLife{program_.buffers[id].holders, at}).first->second;
    --life.holders;
    life.until = std::max(life.until, at);
  }

  void note(BufferId id, Nanos at, bool alloc) {
    const Buffer& buffer = program_.buffers[id];
    const auto signed_by = [&](Bytes bytes) { return alloc ? bytes : -bytes; };
    const auto kind = static_cast<std::size_t>(buffer.kind);
    if (buffer.space == Space::device) device_[kind].push_back({at, signed_by(buffer.bytes)});
    if (buffer.space == Space::host) host_[kind].push_back({at, signed_by(buffer.bytes)});
    if (is_pinnable(buffer) && !witness_.pageable[id])
      pinned_.push_back({at, signed_by(pinned_size(buffer.bytes, rounding_))});
  }

  static std::vector<KindCurve> curves(ByKind& changes) {
    std::vector<KindCurve> found;
    for (std::size_t kind = 0; kind < changes.size(); ++kind) {
      std::vector<MemorySample> samples = levels(std::move(changes[kind]));
      if (!is_flat_zero(samples)) found.push_back({static_cast<BufferKind>(kind), std::move(samples)});
    }
    return found;
  }

  const Program& program_;
  const Witness& witness_;
  const PinnedRounding rounding_;
  ByKind device_, host_;
  std::map<BufferId, SharedLife> shared_;
  LevelChanges pinned_;
};

}  // namespace

std::optional<Composition> composition(const Program& program, const Timeline& timeline,
                                       PinnedRounding rounding) {
  const auto witness = witness_of(program, timeline);
  if (!witness) return std::nullopt;
  return KindLog(program, *witness, rounding).composition();
}

}  // namespace stowage
