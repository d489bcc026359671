// Copies and compute by the clock. What is asked is that nothing is quicker than the machine: a busy computer
// may be as slow as it likes.
#include "runtime/paced_links.h"

#include <string>

#include "tests/catch.h"

using namespace stowage;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::int64_t bytes = 4'000'000;

// 1 GB/s: a copy takes 4 ms.
Links links() {
  Links links;
  links.h2d.rate = links.d2h.rate = {1'000'000'000};
  links.pageable = {500'000'000};
  return links;
}

struct Ends {
  std::string from = std::string(bytes, 'x'), to = std::string(bytes, ' ');

  CopyJob job(Lane lane) { return {lane, {{to.data(), from.data(), {bytes}}}, {}}; }
};

auto length(const Copy& copy) {
  return copy.span().end - copy.span().begin;
}

void work_for(milliseconds time) {
  for (const Instant until = steady_clock::now() + time; steady_clock::now() < until;) continue;
}

}  // namespace

TEST_CASE("copies in both directions take from each other what duplex says") {
  Links half = links();
  half.duplex = 0.5;
  Ends in, out;
  PacedLinks paced(half);
  const auto first = paced.submit(in.job(Lane::h2d)), second = paced.submit(out.job(Lane::d2h));
  first->wait();
  second->wait();
  REQUIRE((in.to == in.from));
  // Alone 4 ms each. What they have in common, c, counts half for both: 4 + c / 2 is the length of each.
  const auto common =
      std::min(first->span().end, second->span().end) - std::max(first->span().begin, second->span().begin);
  REQUIRE(length(*first) >= milliseconds(4) + common / 2 - milliseconds(1));
  REQUIRE(length(*second) >= milliseconds(4) + common / 2 - milliseconds(1));
}

TEST_CASE("a pageable copy runs beside no compute, and before the step that could begin with it") {
  Ends ends;
  PacedLinks paced(links());
  CopyJob job = ends.job(Lane::d2h);
  job.pageable = true;
  const auto copy = paced.submit(std::move(job));
  const WorkSpan after = paced.compute(steady_clock::now(), [](Instant) { work_for(milliseconds(2)); });
  REQUIRE(copy->ended());
  REQUIRE((ends.to == ends.from));
  REQUIRE(length(*copy) >= milliseconds(8));  // 4 MB at 0.5 GB/s
  REQUIRE(after.begin >= copy->span().end);
  REQUIRE(after.end - after.begin >= milliseconds(2));
}

TEST_CASE("a pageable copy behind a pinned one does not hold compute until its turn has come") {
  Links slow = links();
  slow.d2h.rate = {40'000'000};  // 100 ms a copy: time enough to compute beside it
  slow.pageable = slow.h2d.rate;
  Ends first, second;
  PacedLinks paced(slow);
  const auto pinned = paced.submit(first.job(Lane::d2h));
  CopyJob job = second.job(Lane::d2h);
  job.pageable = true;
  const auto pageable = paced.submit(std::move(job));
  const WorkSpan beside = paced.compute(steady_clock::now(), [](Instant) { work_for(milliseconds(2)); });
  pageable->wait();
  REQUIRE(beside.begin < pinned->span().end);
  REQUIRE(pageable->span().begin >= pinned->span().end);
}

TEST_CASE("a pageable copy begins no earlier than pinning ends") {
  Ends ends;
  PacedLinks paced(links());
  CopyJob job = ends.job(Lane::h2d);
  job.pageable = true;
  const auto copy = paced.submit(std::move(job));
  const Instant until = steady_clock::now() + milliseconds(3);
  paced.hold_until(until);
  copy->wait();
  REQUIRE(copy->span().begin >= until);
}

TEST_CASE("compute beside a copy is slowed") {
  Links slowing = links();
  slowing.compute_slowdown = 0.5;
  Ends ends;
  PacedLinks paced(slowing);
  const auto copy = paced.submit(ends.job(Lane::h2d));
  const WorkSpan span = paced.compute(steady_clock::now(), [](Instant) { work_for(milliseconds(2)); });
  copy->wait();
  // 2 ms of work, of which what the copy was beside counts half. The copy may begin a little late.
  const auto common = std::min(span.end, copy->span().end) - std::max(span.begin, copy->span().begin);
  REQUIRE(span.end - span.begin >= milliseconds(2) + common / 2 - milliseconds(1));
}

TEST_CASE("what was submitted is carried out before the links end") {
  Ends in, out;
  {
    PacedLinks paced(links());
    CopyJob job = in.job(Lane::h2d);
    job.pageable = true;
    paced.submit(std::move(job));
    paced.submit(out.job(Lane::d2h));
  }
  REQUIRE((in.to == in.from));
  REQUIRE((out.to == out.from));
}
