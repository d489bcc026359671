#include "runtime/paced_links.h"

#include <c10/util/ScopeExit.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace stowage {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Small against the caches, large against the cost of a wake-up.
constexpr std::int64_t chunk_bytes = 256 << 10;
// A sleeping thread comes back late by about this much; the rest of the time is spent awake.
constexpr std::chrono::microseconds wake_up{60};

}  // namespace

class PacedLinks::PacedCopy final : public Copy {
 public:
  PacedCopy(PacedLinks& links, CopyJob job) : job(std::move(job)), links_(links) {
    for (const CopyPiece& piece : this->job.pieces) bytes += piece.bytes;
  }

  bool ended() const override {
    const std::lock_guard lock(links_.mutex_);
    return ended_at.has_value();
  }
  void finish() override { links_.wait_for(*this); }
  void wait() override { finish(); }
  WorkSpan span() const override { return {began_at, *ended_at}; }

  const CopyJob job;
  Bytes bytes;
  Instant began_at;
  std::optional<Instant> ended_at;  // guarded by the links' mutex, until it is there

 private:
  PacedLinks& links_;
};

PacedLinks::PacedLinks(const Links& links) : links_(links), rates_(links) {
  for (Lane lane : {Lane::h2d, Lane::d2h})
    threads_[lane == Lane::d2h] = std::thread([this, lane] { work(lane); });
}

PacedLinks::~PacedLinks() {
  {
    Lock lock(mutex_);
    for (const LaneState& lane : lanes_)
      while (!lane.waiting.empty())
        if (!serve_pageable(lock)) changed_.wait(lock);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::shared_ptr<Copy> PacedLinks::submit(CopyJob job) {
  const Lane lane = job.lane;
  auto copy = std::make_shared<PacedCopy>(*this, std::move(job));
  {
    const std::lock_guard lock(mutex_);
    state(lane).waiting.push_back(copy);
  }
  changed_.notify_all();
  return copy;
}

WorkSpan PacedLinks::compute(Instant earliest, const std::function<void(Instant)>& work) {
  Lock lock(mutex_);
  WorkSpan span{std::max(earliest, host_free_at_), {}};
  while (serve_pageable(lock, span.begin)) span.begin = host_free_at_;
  begin_flow(Lane::compute, span.begin, lock);
  lock.unlock();
  {
    const auto let_go = c10::make_scope_exit([&] {
      lock.lock();
      span.end = host_free_at_ = steady_clock::now();
      end_flow(Lane::compute, span.end, lock);
    });
    work(span.begin);
    if (links_.compute_slowdown > 0) wait_until_reached(Lane::compute, steady_clock::now() - span.begin);
  }
  return span;
}

void PacedLinks::hold_until(Instant until) {
  std::this_thread::sleep_until(until - wake_up);
  while (steady_clock::now() < until) continue;
  const std::lock_guard lock(mutex_);
  host_free_at_ = steady_clock::now();
}

void PacedLinks::work(Lane lane) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; by default the kernel may wake a thread 50 us late
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || (could_begin_at(lane) && !is_next_pageable(lane)); });
    if (closing_) return;
    carry_out(lane, lock);
  }
}

// Since when nothing but the host thread keeps the lane's next copy; absent: something else does.
std::optional<Instant> PacedLinks::could_begin_at(Lane lane) {
  const LaneState& state = this->state(lane);
  if (state.busy || state.waiting.empty()) return {};
  const PacedCopy& copy = *state.waiting.front();
  Instant at = std::max(copy.job.issued, state.previous_end.value_or(copy.job.issued));
  for (const std::shared_ptr<Copy>& before : copy.job.after) {
    const std::optional<Instant> ended = static_cast<const PacedCopy&>(*before).ended_at;
    if (!ended) return {};
    at = std::max(at, *ended);
  }
  return at;
}

bool PacedLinks::is_next_pageable(Lane lane) {
  return state(lane).waiting.front()->job.pageable;
}

// Carries out the pageable copy that could begin first; false where none could up to then. So it does not
// matter how long the compute thread has taken to ask.
bool PacedLinks::serve_pageable(Lock& lock, Instant before) {
  std::optional<std::pair<Instant, Lane>> first;
  for (Lane lane : {Lane::h2d, Lane::d2h}) {
    const std::optional<Instant> at = could_begin_at(lane);
    if (at && *at <= before && is_next_pageable(lane) && (!first || *at < first->first)) first = {*at, lane};
  }
  if (first) carry_out(first->second, lock);
  return first.has_value();
}

void PacedLinks::wait_for(const PacedCopy& copy) {
  Lock lock(mutex_);
  while (!copy.ended_at)
    if (!serve_pageable(lock)) changed_.wait(lock);
}

// The lane's next copy, which can begin. Deadlines count from the instant at which nothing but the copy
// itself kept it, so that a late wake-up is made up for and does not add up over copies.
void PacedLinks::carry_out(Lane lane, Lock& lock) {
  LaneState& state = this->state(lane);
  const std::shared_ptr<PacedCopy> copy = state.waiting.front();
  Instant begin = *could_begin_at(lane);
  if (copy->job.pageable) begin = std::max(begin, host_free_at_);
  const bool pays_latency = copy->job.always_pays_latency || begin != state.previous_end;
  const Instant flows = pays_latency ? begin + nanoseconds(link(lane).latency.value) : begin;
  state.busy = true;
  lock.unlock();
  std::this_thread::sleep_until(flows);
  lock.lock();
  begin_flow(lane, flows, lock);
  lock.unlock();
  move(*copy, transfer_time(*copy));
  lock.lock();
  const Instant end = steady_clock::now();
  end_flow(lane, end, lock);
  if (copy->job.pageable) host_free_at_ = end;
  state.busy = false;
  state.previous_end = end;
  state.waiting.pop_front();
  copy->began_at = begin;
  copy->ended_at = end;
  changed_.notify_all();
}

void PacedLinks::move(const PacedCopy& copy, nanoseconds whole) {
  std::int64_t moved = 0;
  for (const CopyPiece& piece : copy.job.pieces) {
    for (std::int64_t at = 0; at < piece.bytes.value;) {
      const std::int64_t bytes = std::min(chunk_bytes, piece.bytes.value - at);
      std::memcpy(static_cast<std::byte*>(piece.to) + at, static_cast<const std::byte*>(piece.from) + at,
                  static_cast<std::size_t>(bytes));
      at += bytes;
      moved += bytes;
      const double part = static_cast<double>(moved) / static_cast<double>(copy.bytes.value);
      sleep_until_nearly_reached(copy.job.lane,
                                 nanoseconds(std::llround(part * static_cast<double>(whole.count()))));
    }
  }
  wait_until_reached(copy.job.lane, whole);
}

nanoseconds PacedLinks::transfer_time(const PacedCopy& copy) const {
  const Nanos pinned = link(copy.job.lane).time_for(copy.bytes);
  return nanoseconds(
      (copy.job.pageable ? std::max(pinned, links_.pageable.time_for(copy.bytes)) : pinned).value);
}

void PacedLinks::begin_flow(Lane lane, Instant at, const Lock&) {
  rates_.begin(lane, at);
  tell_change();
}

void PacedLinks::end_flow(Lane lane, Instant at, const Lock&) {
  rates_.end(lane, at);
  tell_change();
}

void PacedLinks::tell_change() {
  ++changes_;
  if (!links_.undisturbed()) changed_.notify_all();
}

// Others may change the rate meanwhile.
void PacedLinks::sleep_until_nearly_reached(Lane lane, nanoseconds work) {
  Lock lock(mutex_);
  for (;;) {
    const Instant until = rates_.reaches(lane, work) - wake_up;
    if (steady_clock::now() >= until) return;
    changed_.wait_until(lock, until);
  }
}

void PacedLinks::wait_until_reached(Lane lane, nanoseconds work) {
  for (;;) {
    sleep_until_nearly_reached(lane, work);
    Lock lock(mutex_);
    const Instant until = rates_.reaches(lane, work);
    const std::uint64_t changes = changes_;
    lock.unlock();
    while (steady_clock::now() < until && changes_ == changes) continue;
    if (changes_ == changes) return;
  }
}

}  // namespace stowage
