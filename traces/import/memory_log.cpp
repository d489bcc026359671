#include "traces/import/memory_log.h"

#include <algorithm>
#include <unordered_map>

namespace stowage {
namespace {

enum class Effect : std::uint8_t { allocated, freed, unknown_free, double_free };

// Follows which addresses are live.
class LiveSet {
 public:
  struct Block {
    Bytes bytes;
    std::uint32_t owner;
    bool live;
  };

  // What an operation does, and to which block; null where it has none.
  Effect apply(const MemoryOperation& operation, Block& block) {
    const bool allocates = operation.bytes.value > 0;
    block = {allocates ? operation.bytes : -operation.bytes, operation.owner, true};
    if (operation.address == 0) return allocates ? Effect::allocated : Effect::unknown_free;
    const auto [found, first] = blocks_.try_emplace(operation.address, block);
    if (allocates) {
      found->second = block;
      return Effect::allocated;
    }
    const bool live = !first && found->second.live;
    if (live) block = found->second;
    found->second.live = false;
    return live ? Effect::freed : first ? Effect::unknown_free : Effect::double_free;
  }

 private:
  std::unordered_map<std::uint64_t, Block> blocks_;
};

class Accountant {
 public:
  Accountant(std::optional<Bytes> start, std::size_t owners, std::size_t operations)
      : start_known_(start.has_value()), live_(owners) {
    account_.curve.reserve(operations);
    account_.start = account_.end = account_.peak = start.value_or(Bytes{});
    account_.owners.resize(owners);
  }

  void add(const MemoryOperation& operation) {
    LiveSet::Block block{};
    const Effect effect = set_.apply(operation, block);
    const bool addressed = operation.address != 0;
    account_.unknown_frees += effect == Effect::unknown_free && addressed ? 1 : 0;
    account_.double_frees += effect == Effect::double_free ? 1 : 0;
    const bool ignored = effect == Effect::unknown_free && addressed && !start_known_;
    if (ignored || effect == Effect::double_free) {
      account_.curve.push_back({operation.at, account_.end});
      return;
    }
    const bool charged = effect != Effect::unknown_free && block.owner < live_.size();
    change(operation.at, effect == Effect::allocated ? block.bytes : -block.bytes,
           charged ? &live_[block.owner] : nullptr);
  }

  MemoryAccount take() {
    leave_peak();
    return std::move(account_);
  }

 private:
  void change(Nanos at, Bytes by, Bytes* owner) {
    if (by.value < 0) leave_peak();
    account_.end += by;
    if (owner != nullptr) *owner += by;
    account_.curve.push_back({at, account_.end});
    if (account_.end <= account_.peak) return;
    account_.peak = account_.end;
    account_.peak_at = at;
    at_peak_ = true;
  }

  // Notes who had what, once for each climb to a new peak.
  void leave_peak() {
    if (at_peak_) account_.owners = live_;
    at_peak_ = false;
  }

  bool start_known_;
  LiveSet set_;
  std::vector<Bytes> live_;  // by owner
  MemoryAccount account_;
  bool at_peak_ = false;
};

}  // namespace

MemoryAccount account(const std::vector<MemoryOperation>& log, std::optional<Bytes> start,
                      std::size_t owners) {
  return account(
      log.size(), [&](std::size_t i) { return log[i]; }, start, owners);
}

MemoryAccount account(std::size_t count, const std::function<MemoryOperation(std::size_t)>& operation,
                      std::optional<Bytes> start, std::size_t owners) {
  Accountant accountant(start, owners, count);
  for (std::size_t i = 0; i < count; ++i) accountant.add(operation(i));
  return accountant.take();
}

std::vector<std::size_t> ends_of(const std::vector<MemoryOperation>& log) {
  std::vector<std::size_t> ends(log.size(), log.size());
  std::unordered_map<std::uint64_t, std::size_t> live;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].bytes.value > 0) {
      live[log[i].address] = i;
    } else if (const auto found = live.find(log[i].address); found != live.end()) {
      ends[found->second] = i;
      live.erase(found);
    }
  }
  return ends;
}

Bytes level_before(const std::vector<MemoryOperation>& log, Bytes end) {
  LiveSet set;
  LiveSet::Block block{};
  for (const MemoryOperation& operation : log) {
    const Effect effect = set.apply(operation, block);
    if (effect == Effect::allocated) end -= block.bytes;
    if (effect == Effect::freed || effect == Effect::unknown_free) end += block.bytes;
  }
  return std::max(end, Bytes{});
}

}  // namespace stowage
