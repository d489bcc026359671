#include "traces/import/forward_loops.h"

#include <algorithm>
#include <map>

namespace stowage {

ForwardLoops::ForwardLoops(bool named) : named_(named), chains_(2) {
  chains_[again].parent = chains_[again].root = again;
}

// Whether a round begins with this line.
bool ForwardLoops::Chain::pass(ForwardLine next) {
  const bool begins = !first || (next == *first && next != *latest);
  if (!first) first = next;
  latest = next;
  rounds += begins ? 1 : 0;
  return begins;
}

void ForwardLoops::add(std::span<const ForwardLine> lines, bool in_block) {
  const std::uint32_t chain = walk(forward, lines);
  if (in_block) chains_[chains_[chain].parent].leads_to_block = true;
  allocations_.push_back(chain);
}

void ForwardLoops::add_again(std::span<const ForwardLine> lines) {
  allocations_.push_back(walk(again, lines));
}

std::uint32_t ForwardLoops::walk(std::uint32_t chain, std::span<const ForwardLine> lines) {
  for (const ForwardLine line : lines.first(std::min(lines.size(), deepest))) {
    ++chains_[chain].allocations;
    chains_[chain].pass(line);
    chain = next_chain(chain, line);
  }
  return chain;
}

std::uint32_t ForwardLoops::next_chain(std::uint32_t chain, ForwardLine line) {
  const auto fresh = static_cast<std::uint32_t>(chains_.size());
  const auto [found, added] = next_.try_emplace((std::uint64_t{chain} << 32) | line, fresh);
  if (added) {
    Chain next;
    next.parent = chain;
    next.root = chains_[chain].root;
    next.line = line;
    chains_.push_back(next);
  }
  return found->second;
}

std::vector<bool> ForwardLoops::loops() const {
  std::vector<bool> chosen(chains_.size()), covered(chains_.size());
  const std::size_t steps = std::max<std::size_t>(chains_[forward].rounds, 1);
  for (std::uint32_t chain = again + 1; chain < chains_.size();
       ++chain) {  // a chain comes after the one it goes on from
    const Chain& found = chains_[chain];
    if (found.root != forward) continue;
    covered[chain] = covered[found.parent] || chosen[found.parent];
    const bool loop =
        named_ ? found.leads_to_block
               : found.rounds >= 2 * steps && found.allocations * 10 >= chains_[forward].allocations;
    chosen[chain] = loop && !covered[chain];
  }
  return chosen;
}

// The chains that lead to this one, the first line's first.
std::vector<std::uint32_t> ForwardLoops::links_of(std::uint32_t chain) const {
  std::vector<std::uint32_t> links;
  for (; chain > again; chain = chains_[chain].parent) links.push_back(chain);
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
  std::vector<Chain> seen(chains_.size());
  Turns turns;
  for (std::size_t at = 0; at < allocations_.size(); ++at) {
    std::uint32_t chain = forward;
    if (chains_[allocations_[at]].root != forward) continue;
    for (const std::uint32_t next : links_of(allocations_[at])) {
      const bool begins = seen[chain].pass(chains_[next].line);
      if (chain == forward && begins) turns.begin_step();
      if (chosen[chain]) {
        turns.add(chain, begins, at);
        break;
      }
      chain = next;
    }
  }
  return turns.take();
}

ForwardReruns ForwardLoops::reruns() const {
  const std::vector<bool> chosen = loops();
  std::unordered_map<ForwardLine, std::uint32_t> loop_of;  // by the lines of its blocks
  for (std::uint32_t chain = again + 1; chain < chains_.size(); ++chain) {
    if (chosen[chains_[chain].parent]) loop_of.try_emplace(chains_[chain].line, chains_[chain].parent);
  }
  ForwardReruns found;
  std::size_t runs = 0;
  bool running = false;
  ForwardLine latest = 0;  // of the run
  for (std::size_t at = 0; at < allocations_.size(); ++at) {
    if (chains_[allocations_[at]].root == forward) {
      running = false;
      continue;
    }
    const std::vector<std::uint32_t> links = links_of(allocations_[at]);
    const auto link = std::find_if(links.begin(), links.end(), [&](std::uint32_t chain) {
      return loop_of.count(chains_[chain].line) > 0;
    });
    if (link == links.end()) {
      found.others.push_back(at);
      continue;
    }
    const ForwardLine line = chains_[*link].line;
    const bool first = chains_[loop_of.at(line)].first == line;
    runs += running ? 0 : 1;
    if (!running || (first && latest != line)) found.turns.push_back({runs, first, at, at});
    found.turns.back().last = at + 1;
    running = true;
    latest = line;
  }
  return found;
}

}  // namespace stowage
