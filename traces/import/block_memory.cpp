#include "traces/import/block_memory.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace stowage {
namespace {

constexpr Bytes unsplit{std::int64_t{1} << 20};  // the allocator leaves a remainder this small with its block

bool may_be_equal(Bytes a, Bytes b) {
  const Bytes less = std::min(a, b), more = std::max(a, b);
  return more == less || (less > unsplit && more - less <= unsplit);
}

bool alike(const BlockMemory& a, const BlockMemory& b) {
  if (a.kept.size() != b.kept.size()) return false;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.kept.size(); ++i) {
    if (!may_be_equal(a.kept[i], b.kept[i])) return false;
    equal += a.kept[i] == b.kept[i] ? 1 : 0;
  }
  return equal * 2 >= a.kept.size();
}

}  // namespace

Bytes BlockMemory::net() const {
  return std::accumulate(kept.begin(), kept.end(), -released);
}

BlockMemory memory_of(std::span<const MemoryOperation> operations) {
  BlockMemory memory;
  std::vector<std::optional<Bytes>> made;  // those that were freed again are absent
  std::unordered_map<std::uint64_t, std::size_t> live;
  Bytes level;
  for (const MemoryOperation& operation : operations) {
    level += operation.bytes;
    memory.rise = std::max(memory.rise, level);
    if (operation.bytes.value > 0) {
      if (operation.address != 0) live[operation.address] = made.size();
      made.emplace_back(operation.bytes);
      continue;
    }
    const auto found = live.find(operation.address);
    if (found == live.end()) {
      memory.released -= operation.bytes;
    } else {
      made[found->second].reset();
      live.erase(found);
    }
  }
  memory.made = made.size();
  for (std::size_t place = 0; place < made.size(); ++place) {
    if (!made[place]) continue;
    memory.kept.push_back(*made[place]);
    memory.places.push_back(place);
  }
  return memory;
}

bool makes_output_again(const BlockMemory& forward, const BlockMemory& again) {
  return !forward.kept.empty() && !again.kept.empty() && again.places.back() >= forward.places.back() &&
         may_be_equal(forward.kept.back(), again.kept.back());
}

Bytes saved_without_rerun(const BlockMemory& forward, const BlockMemory& again) {
  const Bytes twice = makes_output_again(forward, again) ? again.output() : Bytes{};
  return again.net() - twice + forward.output();
}

void even_out(std::vector<BlockMemory*>& blocks) {
  // Blocks are of a few kinds; where there are many, those next to each other are compared.
  constexpr std::ptrdiff_t compared = 256;
  std::vector<std::vector<BlockMemory*>> families;
  for (BlockMemory* block : blocks) {
    const auto first = families.end() - std::min<std::ptrdiff_t>(compared, std::ssize(families));
    const auto family = std::find_if(first, families.end(),
                                     [&](const auto& members) { return alike(*members.front(), *block); });
    if (family == families.end()) {
      families.push_back({block});
    } else {
      family->push_back(block);
    }
  }
  for (const std::vector<BlockMemory*>& family : families) {
    std::vector<Bytes> least = family.front()->kept;
    for (const BlockMemory* block : family) {
      for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], block->kept[i]);
    }
    for (BlockMemory* block : family) block->kept = least;
  }
}

}  // namespace stowage
