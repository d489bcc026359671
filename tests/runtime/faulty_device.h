// A host device on which things go wrong as they are told to: memory is refused, copies fail, end late, or
// end in an order of their own. All that does go right is real.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "runtime/device.h"
#include "runtime/host_device.h"

namespace stowage {

// What can go wrong, by what is counted.
enum class Fault : std::uint8_t { device_memory, pinned_memory, host_memory, copy };
inline constexpr int fault_count = 4;

// Counts what passes, and says when it is not to.
class FaultCounter {
 public:
  // From now on, the `at`-th (from 0) fails; absent: none does. Counting starts anew.
  void arm(std::optional<std::int64_t> at) {
    at_ = at;
    passed_ = 0;
  }
  bool fails() { return passed_++ == at_; }
  std::int64_t passed() const { return passed_; }

 private:
  std::optional<std::int64_t> at_;
  std::int64_t passed_ = 0;
};

// Copies that are carried out on the calling thread, at moments drawn from a seed: each lane's in their
// order, none before what it waits for, and otherwise in any order. A copy that has to end does.
class ScriptedCopies {
 public:
  ScriptedCopies(std::uint64_t seed, FaultCounter& faults) : random_(seed), faults_(faults) {}
  ~ScriptedCopies();

  std::shared_ptr<Copy> submit(CopyJob job);
  // Something happens: copies may end, or not.
  void let_some_end();

 private:
  class Scripted;
  Scripted* runnable();
  void end_until(const Scripted& copy);

  std::mt19937_64 random_;
  FaultCounter& faults_;
  std::array<std::deque<std::shared_ptr<Scripted>>, 2> lanes_;
};

class FaultyDevice final : public Device {
 public:
  // Without a seed copies are the host device's own.
  FaultyDevice(const Machine& machine, std::optional<std::uint64_t> seed_of_copies);
  ~FaultyDevice() override;

  FaultCounter& counter(Fault fault) { return counters_[static_cast<int>(fault)]; }
  // How many requests for device memory had passed when each compute step was given, since compute was told
  // to begin anew.
  const std::vector<std::int64_t>& requests_by_step() const { return requests_by_step_; }
  void begin_anew();

  MemoryPool& memory() override;
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override;
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override;

 private:
  class CountedMemory;
  class CountedAllocator;

  HostDevice inner_;
  std::array<FaultCounter, fault_count> counters_;
  std::vector<std::int64_t> requests_by_step_;
  std::unique_ptr<CountedMemory> memory_;
  std::unique_ptr<CountedAllocator> allocator_;  // LibTorch's, meanwhile
  PinnedPool host_memory_;
  std::optional<ScriptedCopies> copies_;
};

}  // namespace stowage
