// Asks an arena of its own for what the spans say is alive, and compares what it reserves.
#include <algorithm>
#include <limits>
#include <map>

#include "simulator/evidence.h"
#include "simulator/plain_arena.h"

namespace stowage {
namespace {

struct Birth {
  Nanos at;
  std::size_t order;
};

struct Death {
  Nanos at;
  std::size_t order;
  Lane lane;
};

// By instant: the buffers that die then and those that come to life, in program order.
struct Instant {
  std::map<std::size_t, std::pair<BufferId, Lane>> deaths;
  std::map<std::size_t, BufferId> births;
};

std::map<Nanos, Instant> instants_of(const Evidence& evidence) {
  const Program& program = evidence.program;
  std::map<BufferId, Birth> births;
  std::map<BufferId, Death> deaths;
  std::map<BufferId, std::uint32_t> held;
  const auto let_go = [&](BufferId id, const Death& death) {
    const auto [left, first] = held.try_emplace(id, program.buffers[id].holders);
    --left->second;
    if (first || deaths[id].at <= death.at) deaths[id] = death;
  };
  std::size_t order = 0;
  for (BufferId id : program.initial) births[id] = {{}, order++};
  for (StepId step = 0; step < program.steps.size(); ++step)
    for (Edge edge : {Edge::ready, Edge::begin, Edge::end})
      for (const MemoryEffect& effect : program.effects_at(step, edge)) {
        const Nanos at = evidence.edge(step, edge);
        if (effect.alloc)
          births[effect.buffer] = {at, order++};
        else
          let_go(effect.buffer, {at, order++, program.steps[step].lane});
      }
  for (const auto& [id, count] : held)  // there for good
    if (count > 0) deaths.erase(id);
  std::map<Nanos, Instant> instants;
  for (const auto& [id, birth] : births) {
    if (program.buffers[id].space != Space::device) continue;
    const auto death = deaths.find(id);
    if (death != deaths.end() && death->second.at == birth.at) continue;
    instants[birth.at].births[birth.order] = id;
    if (death != deaths.end())
      instants[death->second.at].deaths[death->second.order] = {id, death->second.lane};
  }
  return instants;
}

void add_sample(std::vector<MemorySample>& curve, Nanos at, Bytes level) {
  if (curve.empty() ? level != Bytes{} : level != curve.back().bytes) curve.push_back({at, level});
}

void compare_arena(const char* what, const std::vector<MemorySample>& told,
                   const std::vector<MemorySample>& made, Findings& findings) {
  if (told == made) return;
  const auto [a, b] = std::mismatch(told.begin(), told.end(), made.begin(), made.end());
  const auto sample = [](const auto& at, const auto& curve) {
    return at == curve.end() ? std::string("nothing") : text(at->bytes) + " at " + text(at->at);
  };
  findings.push_back(std::string(what) + " memory: the curve has " + sample(a, told) +
                     " where the arena has " + sample(b, made));
}

}  // namespace

void check_arena(const Evidence& evidence, Findings& findings) {
  std::vector<MemorySample> allocated, reserved;
  if (evidence.machine.arena == ArenaKind::caching) {
    PlainArena arena({std::numeric_limits<std::int64_t>::max()}, evidence.machine.arena_options);
    for (const auto& [at, instant] : instants_of(evidence)) {
      for (const auto& [order, death] : instant.deaths)
        arena.free(death.first, static_cast<std::uint32_t>(death.second), at);
      for (const auto& [order, id] : instant.births)
        arena.allocate({id, static_cast<std::uint32_t>(Lane::compute), evidence.program.buffers[id].bytes},
                       at);
      add_sample(allocated, at, arena.levels().allocated);
      add_sample(reserved, at, arena.levels().reserved);
    }
  }
  compare_arena("allocated", evidence.timeline.memory.allocated, allocated, findings);
  compare_arena("reserved", evidence.timeline.memory.reserved, reserved, findings);
}

}  // namespace stowage
