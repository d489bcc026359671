#include "tests/runtime/faulty_device.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

void refuse(Bytes wanted) {
  const Bytes live = Arena::instance().live();
  throw MemoryRefused({Space::device, wanted, live, live});
}

HostMemorySource counted(FaultCounter& counter) {
  return {[&counter](std::size_t bytes) { return counter.fails() ? nullptr : aligned_memory(bytes); },
          system_memory().give_back};
}

}  // namespace

class ScriptedCopies::Scripted final : public Copy {
 public:
  Scripted(ScriptedCopies& owner, CopyJob job) : job(std::move(job)), owner_(owner) {}

  bool ended() const override {
    owner_.let_some_end();
    return times.has_value();
  }
  void finish() override {
    owner_.end_until(*this);
    if (failed) throw SystemError("copy", "it was told to fail");
  }
  void wait() override { finish(); }
  WorkSpan span() const override { return *times; }

  void carry_out(FaultCounter& faults) {
    const Instant begin = std::chrono::steady_clock::now();
    failed = faults.fails();
    for (const std::shared_ptr<Copy>& before : job.after)
      failed = failed || static_cast<const Scripted&>(*before).failed;
    if (!failed)
      for (const CopyPiece& piece : job.pieces)
        std::memcpy(piece.to, piece.from, static_cast<std::size_t>(piece.bytes.value));
    times = {begin, std::chrono::steady_clock::now()};
  }

  const CopyJob job;
  std::optional<WorkSpan> times;
  bool failed = false;

 private:
  ScriptedCopies& owner_;
};

ScriptedCopies::~ScriptedCopies() {
  while (Scripted* const next = runnable()) {
    next->carry_out(faults_);
    lanes_[next->job.lane == Lane::d2h].pop_front();
  }
}

std::shared_ptr<Copy> ScriptedCopies::submit(CopyJob job) {
  auto& lane = lanes_[job.lane == Lane::d2h];
  lane.push_back(std::make_shared<Scripted>(*this, std::move(job)));
  const std::shared_ptr<Copy> copy = lane.back();
  let_some_end();
  return copy;
}

void ScriptedCopies::let_some_end() {
  while (random_() % 3 == 0) {
    Scripted* const next = runnable();
    if (!next) return;
    next->carry_out(faults_);
    lanes_[next->job.lane == Lane::d2h].pop_front();
  }
}

// The first copy of one lane or the other.
ScriptedCopies::Scripted* ScriptedCopies::runnable() {
  const auto can = [](const std::deque<std::shared_ptr<Scripted>>& lane) {
    if (lane.empty()) return false;
    for (const std::shared_ptr<Copy>& before : lane.front()->job.after)
      if (!static_cast<const Scripted&>(*before).times) return false;
    return true;
  };
  const bool in = can(lanes_[0]), out = can(lanes_[1]);
  if (!in && !out) return nullptr;
  return lanes_[in && out ? random_() % 2 : out].front().get();
}

void ScriptedCopies::end_until(const Scripted& copy) {
  while (!copy.times) {
    Scripted* const next = runnable();
    if (!next) throw DefectError("a copy waits for one that waits for it");
    next->carry_out(faults_);
    lanes_[next->job.lane == Lane::d2h].pop_front();
  }
}

// What the runtime asks for itself.
class FaultyDevice::CountedMemory final : public MemoryPool {
 public:
  explicit CountedMemory(FaultCounter& counter) : counter_(counter) {}
  c10::DataPtr allocate(Bytes bytes) override {
    if (counter_.fails()) refuse(bytes);
    return arena_.allocate(bytes);
  }
  Bytes live() const override { return arena_.live(); }
  Bytes take_peak() override { return arena_.take_peak(); }
  void on_shortage(std::function<bool()> make_room) override { arena_.on_shortage(std::move(make_room)); }

 private:
  FaultCounter& counter_;
  Arena& arena_ = Arena::instance();
};

// What LibTorch asks for.
class FaultyDevice::CountedAllocator final : public c10::Allocator {
 public:
  CountedAllocator(FaultCounter& counter, c10::Allocator& arena) : counter_(counter), arena_(arena) {
    c10::SetCPUAllocator(this, 255);
  }
  ~CountedAllocator() override { c10::SetCPUAllocator(&arena_, 255); }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes > 0 && counter_.fails()) refuse({static_cast<std::int64_t>(bytes)});
    return arena_.allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return arena_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    arena_.copy_data(to, from, bytes);
  }

 private:
  FaultCounter& counter_;
  c10::Allocator& arena_;
};

FaultyDevice::FaultyDevice(const Machine& machine, std::optional<std::uint64_t> seed_of_copies)
    : inner_(machine),
      memory_(std::make_unique<CountedMemory>(counter(Fault::device_memory))),
      allocator_(std::make_unique<CountedAllocator>(counter(Fault::device_memory), *c10::GetCPUAllocator())),
      host_memory_(counted(counter(Fault::pinned_memory)), machine.host,
                   counted(counter(Fault::host_memory))) {
  if (seed_of_copies) copies_.emplace(*seed_of_copies, counter(Fault::copy));
}

FaultyDevice::~FaultyDevice() = default;

MemoryPool& FaultyDevice::memory() {
  return *memory_;
}

void FaultyDevice::begin_anew() {
  requests_by_step_.clear();
  for (FaultCounter& counter : counters_) counter.arm({});
}

std::shared_ptr<Copy> FaultyDevice::submit(CopyJob job) {
  return copies_ ? copies_->submit(std::move(job)) : inner_.submit(std::move(job));
}

std::shared_ptr<DeviceWork> FaultyDevice::compute(Instant earliest,
                                                  const std::function<void(Instant)>& work) {
  requests_by_step_.push_back(counter(Fault::device_memory).passed());
  if (copies_) copies_->let_some_end();
  return inner_.compute(earliest, work);
}

}  // namespace stowage
