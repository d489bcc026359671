#include "traces/import/forward_loops.h"

#include <algorithm>
#include <map>

namespace stowage {

// Whether a round begins with this line.
bool ForwardLoops::Chain::pass(ForwardLine next) {
  const bool begins = !first || (next == *first && next != *latest);
  if (!first) first = next;
  latest = next;
  rounds += begins ? 1 : 0;
  return begins;
}

void ForwardLoops::add(std::span<const ForwardLine> lines, bool in_block) {
  std::uint32_t chain = 0;
  for (const ForwardLine line : lines.first(std::min(lines.size(), deepest))) {
    ++chains_[chain].allocations;
    chains_[chain].pass(line);
    chain = next_chain(chain, line);
  }
  if (in_block) chains_[chains_[chain].parent].leads_to_block = true;
  allocations_.push_back(chain);
}

std::uint32_t ForwardLoops::next_chain(std::uint32_t chain, ForwardLine line) {
  const auto fresh = static_cast<std::uint32_t>(chains_.size());
  const auto [found, added] = next_.try_emplace((std::uint64_t{chain} << 32) | line, fresh);
  if (added) {
    Chain next;
    next.parent = chain;
    next.line = line;
    chains_.push_back(next);
  }
  return found->second;
}

std::vector<bool> ForwardLoops::loops() const {
  std::vector<bool> chosen(chains_.size()), covered(chains_.size());
  const std::size_t steps = std::max<std::size_t>(chains_[0].rounds, 1);
  for (std::uint32_t chain = 1; chain < chains_.size();
       ++chain) {  // a chain comes after the one it goes on from
    const Chain& found = chains_[chain];
    covered[chain] = covered[found.parent] || chosen[found.parent];
    const bool loop = named_ ? found.leads_to_block
                             : found.rounds >= 2 * steps && found.allocations * 10 >= chains_[0].allocations;
    chosen[chain] = loop && !covered[chain];
  }
  return chosen;
}

// The chains that lead to this one, the first line's first.
std::vector<std::uint32_t> ForwardLoops::links_of(std::uint32_t chain) const {
  std::vector<std::uint32_t> links;
  for (; chain != 0; chain = chains_[chain].parent) links.push_back(chain);
  std::reverse(links.begin(), links.end());
  return links;
}

namespace {

// Counts the blocks of each loop and step, and puts their turns together.
class Turns {
 public:
  void begin_step() {
    ++steps_;
    counts_.clear();
  }

  void add(std::uint32_t chain, bool begins, std::size_t at) {
    const std::size_t loop = loops_.try_emplace(chain, loops_.size()).first->second;
    counts_.resize(std::max(counts_.size(), loop + 1));
    if (begins || turns_.empty() || turns_.back().loop != loop) {
      turns_.push_back({loop, counts_[loop]++, steps_ - 1, at, at});
    }
    turns_.back().last = at + 1;
  }

  // A turn lasts until the next one of its loop begins.
  std::vector<ForwardTurn> take() {
    for (std::size_t i = 0; i + 1 < turns_.size(); ++i) {
      const ForwardTurn& next = turns_[i + 1];
      if (next.loop == turns_[i].loop && next.step == turns_[i].step) turns_[i].last = next.first;
    }
    return std::move(turns_);
  }

 private:
  std::map<std::uint32_t, std::size_t> loops_;
  std::vector<std::size_t> counts_;  // by loop
  std::size_t steps_ = 0;
  std::vector<ForwardTurn> turns_;
};

}  // namespace

std::vector<ForwardTurn> ForwardLoops::turns() const {
  const std::vector<bool> chosen = loops();
  std::vector<Chain> again(chains_.size());
  Turns turns;
  for (std::size_t at = 0; at < allocations_.size(); ++at) {
    std::uint32_t chain = 0;
    for (const std::uint32_t next : links_of(allocations_[at])) {
      const bool begins = again[chain].pass(chains_[next].line);
      if (chain == 0 && begins) turns.begin_step();
      if (chosen[chain]) {
        turns.add(chain, begins, at);
        break;
      }
      chain = next;
    }
  }
  return turns.take();
}

}  // namespace stowage
