#include "runtime/paced_lane.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stowage {
namespace {

// Small against the caches, large against the cost of a wake-up.
constexpr std::int64_t chunk_bytes = 256 << 10;
// A sleeping thread comes back late by about this much; the rest of the time is spent awake.
constexpr std::chrono::microseconds wake_up{60};

void wait_exactly_until(Instant deadline) {
  std::this_thread::sleep_until(deadline - wake_up);
  while (std::chrono::steady_clock::now() < deadline) {
  }
}

std::chrono::nanoseconds duration(Nanos nanos) {
  return std::chrono::nanoseconds(nanos.value);
}

}  // namespace

class PacedLane::PacedCopy final : public Copy {
 public:
  explicit PacedCopy(CopyJob job) : job(std::move(job)), submitted(std::chrono::steady_clock::now()) {}

  bool ended() const override {
    const std::lock_guard lock(mutex_);
    return end_.has_value();
  }
  void wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return end_.has_value(); });
  }
  Instant begin() const override { return begin_; }
  Instant end() const override { return *end_; }

  void finish(Instant begin, Instant end) {
    const std::lock_guard lock(mutex_);
    begin_ = begin;
    end_ = end;
    changed_.notify_all();
  }

  CopyJob job;
  const Instant submitted;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Instant begin_;
  std::optional<Instant> end_;
};

PacedLane::PacedLane(const Link& link) : link_(link), thread_([this] { work(); }) {}

PacedLane::~PacedLane() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::shared_ptr<Copy> PacedLane::submit(CopyJob job) {
  auto copy = std::make_shared<PacedCopy>(std::move(job));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(copy);
  }
  changed_.notify_one();
  return copy;
}

void PacedLane::work() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; by default the kernel may wake a thread 50 us late
  for (;;) {
    std::shared_ptr<PacedCopy> copy;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      copy = std::move(waiting_.front());
      waiting_.pop_front();
    }
    carry_out(*copy);
  }
}

// Deadlines count from the instant at which nothing but the copy itself kept it, so that a late wake-up is
// made up for and does not add up over copies.
void PacedLane::carry_out(PacedCopy& copy) {
  Instant begin = copy.submitted;
  for (const std::shared_ptr<Copy>& before : copy.job.after) {
    before->wait();
    begin = std::max(begin, before->end());
  }
  const bool back_to_back = previous_end_ && *previous_end_ >= begin;
  if (back_to_back) begin = *previous_end_;
  const Instant moving =
      copy.job.always_pays_latency || !back_to_back ? begin + duration(link_.latency) : begin;
  std::this_thread::sleep_until(moving);
  Bytes moved;
  for (const CopyPiece& piece : copy.job.pieces) {
    for (std::int64_t at = 0; at < piece.bytes.value;) {
      const std::int64_t bytes = std::min(chunk_bytes, piece.bytes.value - at);
      std::memcpy(static_cast<std::byte*>(piece.to) + at, static_cast<const std::byte*>(piece.from) + at,
                  static_cast<std::size_t>(bytes));
      at += bytes;
      moved += Bytes{bytes};
      std::this_thread::sleep_until(moving + duration(link_.time_for(moved)) - wake_up);
    }
  }
  wait_exactly_until(moving + duration(link_.time_for(moved)));
  previous_end_ = std::chrono::steady_clock::now();
  copy.finish(begin, *previous_end_);
}

}  // namespace stowage
