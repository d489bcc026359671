// A device that works behind the thread's back: what is live does not grow with how far the thread could run
// ahead of it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/models/transformer.h"
#include "tests/catch.h"
#include "tests/runtime/trainer.h"

using namespace stowage;

namespace {

// Nothing has ended before somebody waits for it, or for compute that was given later.
class LazyDevice final : public Device {
 public:
  LazyDevice() : host_memory_(system_memory(), test_machine().host) {
    at::set_num_threads(1);
    Arena::instance().install();
  }

  MemoryPool& memory() override { return Arena::instance(); }
  PinnedPool& host_memory() override { return host_memory_; }
  std::shared_ptr<Copy> submit(CopyJob job) override {
    for (const CopyPiece& piece : job.pieces)
      std::memcpy(piece.to, piece.from, static_cast<std::size_t>(piece.bytes.value));
    return std::make_shared<LazyWork>(*this, job.issued);
  }
  std::shared_ptr<DeviceWork> compute(Instant earliest, const std::function<void(Instant)>& work) override {
    work(earliest);
    ++given_;
    return std::make_shared<LazyWork>(*this, earliest);
  }

 private:
  // Also of copies: one is behind the compute that was given before it.
  class LazyWork final : public Copy {
   public:
    LazyWork(LazyDevice& device, Instant at) : device_(device), at_(at), place_(device.given_) {}
    bool ended() const override { return device_.done_ >= place_; }
    void finish() override { device_.done_ = std::max(device_.done_, place_); }
    void wait() override {}
    WorkSpan span() const override { return {at_, at_}; }

   private:
    LazyDevice& device_;
    const Instant at_;
    const int place_;
  };

  PinnedPool host_memory_;
  int given_ = 0, done_ = 0;
};

}  // namespace

TEST_CASE("a thread that could run ten blocks ahead has no more live than it has of two") {
  constexpr std::uint32_t blocks = 10;
  TransformerConfig config;
  config.layers = blocks;
  config.width = 16;
  config.heads = 2;
  config.context = 8;
  config.batch = 2;
  const State batch{at::ones({2, 8}, at::kLong), at::ones({2, 8}, at::kLong)};
  LazyDevice device;
  Transformer chain(config, 1);
  Executor executor(chain, device);
  const Profile profile = size_up(executor, chain, batch);
  Settings settings;
  settings.policy = Policy::offload;
  AdamW optimizer(executor.trained(), {});
  const StepResult result = executor.run(program_of(profile, settings), batch, optimizer);
  // The prologue, then F_0 .. F_9. Before F_i is given, F_{i-2} and its stores are waited for, so that after
  // it what travels of two blocks is live; and of all blocks so far their inputs, and what stays.
  const std::vector<StepMemory>& memory = std::get<StepReport>(result).memory;
  Bytes travels, stays = profile.blocks.front().sizes.input;
  for (const SavedStorage& storage : storages(profile.blocks.front()))
    (storage.stays ? stays : travels) += storage.bytes;
  Bytes most;
  for (std::uint32_t i = 0; i < blocks; ++i)
    most = std::max(most, memory[1 + i].after - memory[0].after - stays * (i + 1));
  REQUIRE(most.value == 2 * travels.value);
}
