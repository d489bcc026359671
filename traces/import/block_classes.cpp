#include "traces/import/block_classes.h"

#include <algorithm>
#include <map>
#include <set>

namespace stowage {
namespace {

struct Kind {
  std::set<std::uint32_t> instances;
  std::int64_t calls = 0, holding_calls = 0;
  Nanos time;
};

// Calls of one kind inside calls of another.
struct Inside {
  std::int64_t calls = 0;
  Nanos time;
};

class Chooser {
 public:
  Chooser(const std::vector<Call>& calls, bool leaves) : calls_(&calls) {
    count();
    for (const auto& [id, kind] : kinds_) {
      const bool inner = kind.holding_calls * 2 > kind.calls;
      if (kind.instances.size() >= 2 && (leaves || inner) && kind.time * 20 >= total_) candidates_.insert(id);
    }
    nest();
  }

  std::vector<std::uint32_t> choose() const {
    std::set<std::uint32_t> chosen;
    for (const std::uint32_t id : candidates_) {
      const auto outer = outermost_.find(id);
      if (outer != outermost_.end() && outer->second * 2 > kinds_.at(id).calls)
        chosen.insert(below_stages(id));
    }
    std::vector<std::uint32_t> out(chosen.begin(), chosen.end());
    std::sort(out.begin(), out.end(), [this](std::uint32_t a, std::uint32_t b) {
      return kinds_.at(a).time != kinds_.at(b).time ? kinds_.at(a).time > kinds_.at(b).time : a < b;
    });
    return out;
  }

 private:
  void count() {
    std::vector<bool> holds(calls_->size());
    for (const Call& call : *calls_) {
      if (call.holder) holds[*call.holder] = true;
      if (!call.holder) total_ += call.duration;
    }
    for (std::size_t i = 0; i < calls_->size(); ++i) {
      const Call& call = (*calls_)[i];
      if (within_own_kind(call)) continue;
      Kind& kind = kinds_[call.kind];
      kind.instances.insert(call.instance);
      ++kind.calls;
      kind.holding_calls += holds[i] ? 1 : 0;
      kind.time += call.duration;
    }
  }

  bool within_own_kind(const Call& call) const {
    for (auto holder = call.holder; holder; holder = (*calls_)[*holder].holder) {
      if ((*calls_)[*holder].kind == call.kind) return true;
    }
    return false;
  }

  // For each candidate: how many of its calls are in no other, and what it takes inside each of the others.
  void nest() {
    for (const Call& call : *calls_) {
      if (!candidates_.contains(call.kind) || within_own_kind(call)) continue;
      std::set<std::uint32_t> holders;
      for (auto holder = call.holder; holder; holder = (*calls_)[*holder].holder) {
        if (candidates_.contains((*calls_)[*holder].kind)) holders.insert((*calls_)[*holder].kind);
      }
      if (holders.empty()) ++outermost_[call.kind];
      for (const std::uint32_t holder : holders) {
        Inside& inside = inside_[{holder, call.kind}];
        ++inside.calls;
        inside.time += call.duration;
      }
    }
  }

  std::uint32_t below_stages(std::uint32_t stage) const {
    const Kind& outer = kinds_.at(stage);
    std::optional<std::uint32_t> most;
    Nanos most_time;
    for (const std::uint32_t id : candidates_) {
      const auto found = inside_.find({stage, id});
      if (found == inside_.end()) continue;
      const Inside& inside = found->second;
      const bool several = inside.calls * 2 >= outer.calls * 3, fills = inside.time * 10 >= outer.time * 7;
      if (several && fills && inside.time > most_time) {
        most = id;
        most_time = inside.time;
      }
    }
    return most ? below_stages(*most) : stage;
  }

  const std::vector<Call>* calls_;
  std::map<std::uint32_t, Kind> kinds_;
  std::set<std::uint32_t> candidates_;
  std::map<std::uint32_t, std::int64_t> outermost_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Inside> inside_;
  Nanos total_;
};

}  // namespace

std::vector<std::uint32_t> block_kinds(const std::vector<Call>& calls, bool leaves) {
  return Chooser(calls, leaves).choose();
}

}  // namespace stowage
