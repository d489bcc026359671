#include "tests/runtime/prompt_device.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/done_work.h"
#include "tests/runtime/trainer.h"

namespace stowage {
namespace {

class PromptCopy final : public Copy {
 public:
  PromptCopy(Instant at, std::shared_ptr<std::uint64_t> turns)
      : at_(at), turns_(std::move(turns)), submitted_(*turns_) {}
  bool ended() const override { return *turns_ > submitted_; }
  void finish() override {
    if (!ended()) ++*turns_;
  }
  void wait() override { finish(); }
  WorkSpan span() const override { return {at_, at_}; }

 private:
  const Instant at_;
  const std::shared_ptr<std::uint64_t> turns_;
  const std::uint64_t submitted_;
};

}  // namespace

Machine prompt_machine() {
  Machine machine = test_machine();
  machine.links.h2d = machine.links.d2h = {{1'000'000'000'000'000'000}, {}};
  return machine;
}

PromptDevice::PromptDevice()
    : host_memory_(
          {[](std::size_t bytes) { return aligned_memory(bytes); }, [](void* data) { std::free(data); }},
          test_machine().host) {
  at::set_num_threads(1);
  Arena::instance().install();
}

std::shared_ptr<Copy> PromptDevice::submit(CopyJob job) {
  for (const CopyPiece& piece : job.pieces)
    if (piece.bytes > Bytes{}) std::memcpy(piece.to, piece.from, static_cast<std::size_t>(piece.bytes.value));
  return std::make_shared<PromptCopy>(job.issued, turns_);
}

std::shared_ptr<DeviceWork> PromptDevice::compute(Instant earliest,
                                                  const std::function<void(Instant)>& work) {
  const Instant begin = std::max(earliest, std::chrono::steady_clock::now());
  work(begin);
  ++*turns_;
  return std::make_shared<DoneWork>(WorkSpan{begin, std::max(begin, std::chrono::steady_clock::now())});
}

}  // namespace stowage
