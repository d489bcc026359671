// Rebuilds the memory curves from the spans alone.
#include <algorithm>
#include <array>

#include "simulator/evidence.h"

namespace stowage {
namespace {

struct Life {
  std::optional<Nanos> birth, death;
  std::uint32_t let_go = 0;  // how many holders have
};

struct Change {
  Nanos at;
  Bytes by;
};

class Lives {
 public:
  Lives(const Evidence& evidence, Findings& findings)
      : evidence_(evidence), findings_(findings), lives_(evidence.program.buffers.size()) {
    for (BufferId id : evidence.program.initial) set(id, lives_[id].birth, Nanos{}, "comes to life");
    for (StepId step = 0; step < evidence.program.steps.size(); ++step)
      for (Edge edge : {Edge::ready, Edge::begin, Edge::end})
        for (const MemoryEffect& effect : evidence.program.effects_at(step, edge)) {
          if (effect.alloc)
            set(effect.buffer, lives_[effect.buffer].birth, evidence.edge(step, edge), "comes to life");
          else
            let_go(effect.buffer, evidence.edge(step, edge));
        }
  }

  void check() {
    for (BufferId id = 0; id < lives_.size(); ++id) {
      Life& life = lives_[id];
      if (life.let_go < evidence_.program.buffers[id].holders) life.death.reset();
      if (life.death && !life.birth) findings_.push_back(title(id) + " dies, but never lived");
      if (life.death && life.birth && *life.death < *life.birth)
        findings_.push_back(title(id) + " dies at " + text(*life.death) + ", before it comes to life at " +
                            text(*life.birth));
    }
  }

  std::vector<MemorySample> curve(Space space) const {
    std::vector<Change> changes;
    for (BufferId id = 0; id < lives_.size(); ++id) {
      const Buffer& buffer = evidence_.program.buffers[id];
      if (buffer.space != space) continue;
      if (lives_[id].birth) changes.push_back({*lives_[id].birth, buffer.bytes});
      if (lives_[id].death) changes.push_back({*lives_[id].death, -buffer.bytes});
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
    std::vector<MemorySample> curve;
    Bytes level;
    for (auto change = changes.begin(); change != changes.end();) {
      const Nanos at = change->at;
      const Bytes before = level;
      for (; change != changes.end() && change->at == at; ++change) level += change->by;
      if (level != before) curve.push_back({at, level});
    }
    return curve;
  }

 private:
  std::string title(BufferId id) const {
    static constexpr std::array<const char*, buffer_kind_count> kinds{
        "resident", "optimizer_state", "weights",  "activation", "activation_gradient",
        "saved",    "workspace",       "gradient", "checkpoint"};
    const Buffer& buffer = evidence_.program.buffers[id];
    std::string title = std::string("buffer ") + kinds[static_cast<int>(buffer.kind)];
    return buffer.block ? title + " " + std::to_string(*buffer.block) : title;
  }
  // The last holder takes a buffer with it, and none lets go twice.
  void let_go(BufferId id, Nanos at) {
    Life& life = lives_[id];
    if (++life.let_go > evidence_.program.buffers[id].holders) return set(id, life.death, at, "dies");
    if (!life.death || *life.death < at) life.death = at;
  }
  void set(BufferId id, std::optional<Nanos>& instant, Nanos at, const char* what) {
    if (instant)
      findings_.push_back(title(id) + " " + what + " twice, at " + text(*instant) + " and " + text(at));
    instant = at;
  }

  const Evidence& evidence_;
  Findings& findings_;
  std::vector<Life> lives_;
};

void compare(const char* space, const std::vector<MemorySample>& told, const std::vector<MemorySample>& made,
             Findings& findings) {
  if (told == made) return;
  const auto [a, b] = std::mismatch(told.begin(), told.end(), made.begin(), made.end());
  const auto sample = [](const auto& at, const auto& curve) {
    return at == curve.end() ? std::string("nothing") : text(at->bytes) + " at " + text(at->at);
  };
  findings.push_back(std::string(space) + " memory: the curve has " + sample(a, told) +
                     " where the spans make " + sample(b, made));
}

}  // namespace

void check_memory(const Evidence& evidence, Findings& findings) {
  Lives lives(evidence, findings);
  lives.check();
  if (!evidence.simulated()) return;
  compare("device", evidence.timeline.memory.device, lives.curve(Space::device), findings);
  compare("host", evidence.timeline.memory.host, lives.curve(Space::host), findings);
  compare("disk", evidence.timeline.memory.disk, lives.curve(Space::disk), findings);
}

}  // namespace stowage
