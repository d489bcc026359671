// Verify finds every fault that is planted in a sound timeline.
#include "simulator/verify.h"

#include <algorithm>

#include "plan/block_table.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

using Findings = std::vector<std::string>;

// The worked example with offload: stores, restores, two stalls. Spans of interest:
//   compute  forward 0..3 from 0 to 40, epilogue 40..46, backward 3 at 102..122, 2 at 122..142, ...
//   d2h      store 3.0 at 70..82, 3.1 at 82..90          h2d  restore 3.0 at 82..94, 3.1 at 94..102
struct Sound {
  Machine machine = plain_machine();
  Program program;
  Timeline timeline;

  Sound() {
    const BlockTable table(example_profile());
    Settings settings;
    settings.policy = Policy::offload;
    program = compile(table, expand(table, settings).plan);
    Engine(machine).simulate(program, timeline);
  }

  Findings verified(const Budgets& budgets = {}) const { return verify(timeline, program, machine, budgets); }
  Span& span(StepKind kind, std::uint32_t block, std::uint32_t storage = 0) {
    for (Span& span : timeline.spans)
      if (span.kind == kind && span.block == block && span.storage.value_or(0) == storage) return span;
    throw std::logic_error("no such span");
  }
};

bool mentions(const Findings& findings, const std::string& words) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const std::string& each) { return each.find(words) != std::string::npos; });
}

void shift(Span& span, std::int64_t by) {
  span.begin += Nanos{by};
  span.end += Nanos{by};
}

}  // namespace

TEST_CASE("a sound timeline has no findings") {
  REQUIRE(Sound().verified() == Findings{});
}

TEST_CASE("two spans that have changed places") {
  Sound sound;
  Span &first = sound.span(StepKind::restore_saved, 3, 0),
       &second = sound.span(StepKind::restore_saved, 3, 1);
  std::swap(first.storage, second.storage);
  std::swap(first.bytes, second.bytes);
  REQUIRE(mentions(sound.verified(), "the program has h2d restore_saved 3.0 where the timeline has"));
}

TEST_CASE("spans that are not sorted") {
  Sound sound;
  std::swap(sound.timeline.spans[1], sound.timeline.spans[2]);  // begin at 0 and at 10
  REQUIRE(mentions(sound.verified(), "not sorted"));
}

TEST_CASE("a span that is missing") {
  Sound sound;
  sound.timeline.spans.pop_back();
  REQUIRE(mentions(sound.verified(), "spans for"));
}

TEST_CASE("a span that is there twice") {
  Sound sound;
  sound.timeline.spans.push_back(sound.timeline.spans.back());
  REQUIRE(mentions(sound.verified(), "spans for"));
}

TEST_CASE("a span that is shifted") {
  Sound sound;
  SECTION("to a later start, though nothing keeps it") {
    shift(sound.span(StepKind::store_saved, 3, 1), 1);
    REQUIRE(mentions(sound.verified(), "d2h store_saved 3.1 begins at 83 ns, though nothing keeps it"));
  }
  SECTION("into the one before it on its lane") {
    shift(sound.span(StepKind::store_saved, 3, 1), -1);
    REQUIRE(mentions(sound.verified(), "d2h store_saved 3.1 begins at 81 ns, but the step before it"));
  }
  SECTION("before it was issued") {
    // Its trigger is the begin of backward 3 at 102.
    shift(sound.span(StepKind::restore_saved, 2, 0), -2);
    REQUIRE(mentions(sound.verified(), "restore_saved 2.0 begins at 100 ns, but it is issued at 102 ns"));
  }
  SECTION("before what it brings back has left") {
    shift(sound.span(StepKind::restore_saved, 3, 0), -3);
    REQUIRE(mentions(sound.verified(), "restore_saved 3.0 begins at 79 ns, but d2h store_saved 3.0 ends"));
  }
  SECTION("to a use before arrival") {
    sound.span(StepKind::backward, 3).begin -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "backward 3 begins at 101 ns, but h2d restore_saved 3.1 ends"));
  }
}

TEST_CASE("a step that takes another time than it should") {
  Sound sound;
  SECTION("a shorter copy") {
    sound.span(StepKind::store_saved, 3, 1).end -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "d2h store_saved 3.1 takes 7 ns, less than its 8 ns"));
  }
  SECTION("a longer copy") {
    sound.span(StepKind::store_saved, 3, 1).end += Nanos{1};
    REQUIRE(mentions(sound.verified(), "d2h store_saved 3.1 takes 9 ns, more than its 8 ns"));
  }
  SECTION("a shorter backward") {
    sound.span(StepKind::backward, 0).end -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "backward 0 takes 19 ns, less than its 20 ns"));
  }
  SECTION("a copy that goes backwards") {
    Span& span = sound.span(StepKind::store_saved, 3, 1);
    span.end = span.begin - Nanos{5};
    REQUIRE(mentions(sound.verified(), "store_saved runs backwards"));
  }
}

TEST_CASE("a latency that was not paid") {
  Sound sound;
  sound.machine.links.h2d.latency = {5};
  REQUIRE(mentions(sound.verified(),
                   "restore_saved 3.0 takes 12 ns, less than its 12 ns and the link's latency"));
}

TEST_CASE("rates that were not shared") {
  Sound sound;
  SECTION("between the directions") {
    // Restore 3.0 at 82..94 and store 3.1 at 82..90 ran at full speed beside each other.
    sound.machine.links.duplex = 0.5;
    REQUIRE(mentions(sound.verified(), "store_saved 3.1 takes 8 ns, less than"));
    REQUIRE(mentions(sound.verified(), "restore_saved 3.0 takes 12 ns, less than"));
  }
  SECTION("between copies and compute") {
    sound.machine.links.compute_slowdown = 0.5;
    REQUIRE(mentions(sound.verified(), "forward 1 takes 10 ns, less than"));
    REQUIRE(!mentions(sound.verified(), "forward 0"));  // no copy ran beside it
  }
}

TEST_CASE("memory over its budget") {
  const Sound sound;  // the table's row: 212 on the device; the host holds 80
  REQUIRE(sound.verified({Bytes{212}, Bytes{80}}) == Findings{});
  REQUIRE(mentions(sound.verified({Bytes{211}, {}}), "device memory is 212 B"));
  REQUIRE(mentions(sound.verified({{}, Bytes{79}}), "host memory is 80 B"));
}

TEST_CASE("curves that do not follow from the spans") {
  Sound sound;
  SECTION("another level") {
    sound.timeline.memory.device[3].bytes += Bytes{1};
  }
  SECTION("a sample too few") {
    sound.timeline.memory.device.pop_back();
  }
  SECTION("a sample too many") {
    sound.timeline.memory.device.push_back({{1000}, {1}});
  }
  SECTION("another instant") {
    sound.timeline.memory.device[3].at += Nanos{1};
  }
  REQUIRE(mentions(sound.verified(), "device memory: the curve has"));
}

TEST_CASE("a host curve that does not follow from the spans") {
  Sound sound;
  sound.timeline.memory.host.clear();
  REQUIRE(mentions(sound.verified(), "host memory: the curve has nothing"));
}

TEST_CASE("buffers that die before they live") {
  Sound sound;
  const StepId last = sound.program.lanes[0].end - 1;
  const Range range = sound.program.effect_ranges[last][static_cast<int>(Edge::end)];
  SECTION("at the wrong time") {
    // The gradients, freed by the optimizer, are freed when the first forward is ready instead.
    sound.program.effect_ranges[0][static_cast<int>(Edge::ready)] = range;
    sound.program.effect_ranges[last][static_cast<int>(Edge::end)] = {};
    REQUIRE(mentions(sound.verified(), "before it comes to life"));
  }
  SECTION("twice") {
    sound.program.effect_ranges[last][static_cast<int>(Edge::begin)] = range;
    REQUIRE(mentions(sound.verified(), "dies twice"));
  }
}

// Stalls of the sound timeline: store 46..82 and restore 82..102, both of block 3.
TEST_CASE("stalls that do not add up") {
  Sound sound;
  std::vector<Stall>& stalls = sound.timeline.stalls;
  REQUIRE(stalls.size() == 2);
  SECTION("one is missing") {
    stalls.pop_back();
    REQUIRE(mentions(sound.verified(), "stalls add up to 36 ns, but step - compute is 56 ns"));
  }
  SECTION("one is shorter") {
    stalls[1].end -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "stalls add up to 55 ns"));
  }
  SECTION("one is where compute was busy") {
    stalls[0].begin -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "not in a gap"));
  }
  SECTION("they overlap") {
    stalls[1].begin -= Nanos{1};
    REQUIRE(mentions(sound.verified(), "begins before the one before it ends"));
  }
  SECTION("one names another block") {
    stalls[1].block = 2;
    REQUIRE(mentions(sound.verified(), "names a block"));
  }
  SECTION("one has another cause") {
    stalls[1].cause = GENERATE(StallCause::weights, StallCause::store);
    REQUIRE(mentions(sound.verified(), "has another cause"));
  }
  SECTION("a store is blamed on the restore") {
    stalls[0].cause = StallCause::restore;
    REQUIRE(mentions(sound.verified(), "has another cause"));
  }
  SECTION("one claims that compute had ended") {
    stalls[1].cause = StallCause::drain;
    REQUIRE(mentions(sound.verified(), "compute has not ended"));
  }
}

TEST_CASE("totals that are not those of the spans") {
  Sound sound;
  SECTION("the step") {
    sound.timeline.step += Nanos{1};
    REQUIRE(mentions(sound.verified(), "the step takes 187 ns, but its last span ends at 186 ns"));
  }
  SECTION("compute") {
    sound.timeline.compute += Nanos{1};
    REQUIRE(mentions(sound.verified(), "compute takes 131 ns, but its spans add up to 130 ns"));
  }
  SECTION("a counter") {
    const auto counter = GENERATE("copies", "bytes_h2d", "bytes_d2h", "prefetch_on_time", "prefetch_late");
    ++sound.timeline.counters[counter];
    REQUIRE(mentions(sound.verified(), std::string("counter ") + counter));
  }
}

// Four blocks away and back with one class of buffers, so that those of the other size (12 or 8 B) are
// pageable, at half the rate.
TEST_CASE("a pool that was not kept to") {
  Sound sound;
  sound.machine.links.pageable = {500'000'000};
  sound.program.pinned.buckets = 1;
  Engine(sound.machine).simulate(sound.program, sound.timeline);
  REQUIRE(sound.verified() == Findings{});
  Span& copy = *std::find_if(sound.timeline.spans.begin(), sound.timeline.spans.end(),
                             [](const Span& span) { return span.pageable; });
  SECTION("a copy that should be pageable") {
    copy.pageable = false;
    REQUIRE(mentions(sound.verified(), "should be pageable"));
  }
  SECTION("a copy that should be pinned") {
    sound.program.pinned = {};
    REQUIRE(mentions(sound.verified(), "should be pinned"));
  }
  SECTION("a pageable copy beside compute") {
    shift(copy, -1);
    REQUIRE(mentions(sound.verified(), "is pageable, but compute forward"));
  }
  SECTION("a pageable copy that took the link's time only") {
    sound.machine.links.pageable = {250'000'000};
    REQUIRE(mentions(sound.verified(), "less than its"));
  }
  SECTION("a counter of the pool") {
    const auto counter =
        GENERATE("pinned_accesses", "pinned_checkouts", "pinned_cap_misses", "pinned_held_bytes");
    ++sound.timeline.counters[counter];
    REQUIRE(mentions(sound.verified(), std::string("counter ") + counter));
  }
  SECTION("a stall that was no wait for a pageable copy") {
    for (Stall& stall : sound.timeline.stalls)
      if (stall.cause == StallCause::pageable) stall.cause = StallCause::restore;
    REQUIRE(mentions(sound.verified(), "has another cause"));
  }
}

// Each of the two buffers of a block takes 5 ns to be pinned.
TEST_CASE("pinning that was not waited for") {
  Sound sound;
  sound.machine.host.pinning.each = {5};
  Engine(sound.machine).simulate(sound.program, sound.timeline);
  REQUIRE(sound.verified() == Findings{});
  SECTION("by a store") {
    shift(sound.span(StepKind::store_saved, 0, 0), -1);
    REQUIRE(
        mentions(sound.verified(), "store_saved 0.0 begins at 14 ns, but its host memory is pinned at 15"));
  }
  SECTION("by compute") {
    shift(sound.span(StepKind::forward, 1), -1);
    REQUIRE(mentions(sound.verified(), "forward 1 begins at 19 ns, while host memory is being pinned"));
  }
}

// A recording starts later and takes other times than the model says, but keeps to its order.
// 212 B on the device, 80 that are pinned and 10 that they leave: 302.
TEST_CASE("device memory with what is pinned over their budget") {
  Sound sound;
  sound.machine.host.device_margin = Bytes{10};
  REQUIRE(sound.verified({Bytes{302}, {}}) == Findings{});
  REQUIRE(mentions(sound.verified({Bytes{301}, {}}), "pinned host memory that counts there 80 B"));
  sound.machine.host.device_margin.reset();
  REQUIRE(sound.verified({Bytes{301}, {}}) == Findings{});
}

TEST_CASE("of a recording, order and budgets are checked, figures are not") {
  Sound sound;
  sound.timeline.source = "measured";
  const auto stretch = [](Nanos& at) { at = at * 3; };
  for (Span& span : sound.timeline.spans) {
    stretch(span.begin);
    stretch(span.end);
  }
  for (Stall& stall : sound.timeline.stalls) {
    stretch(stall.begin);
    stretch(stall.end);
  }
  stretch(sound.timeline.step);
  stretch(sound.timeline.compute);
  sound.timeline.memory.device = {{{7}, {200}}};
  sound.timeline.counters = {{"pool_hits", 3}};
  REQUIRE(sound.verified({Bytes{200}, {}}) == Findings{});
  REQUIRE(mentions(sound.verified({Bytes{199}, {}}), "device memory is 200 B"));
  shift(sound.span(StepKind::restore_saved, 3, 0), -3);
  REQUIRE(mentions(sound.verified(), "restore_saved 3.0 begins at 243 ns, but d2h store_saved 3.0 ends"));
}

// Any span of any timeline, a nanosecond off at one end, is found.
TEST_CASE("no nanosecond escapes") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const reference::Case random = reference::random_case(seed);
    const BlockTable table(random.profile);
    const Program program = compile(table, expand(table, random.settings).plan);
    Timeline timeline;
    Engine(random.machine).simulate(program, timeline);
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
      CAPTURE(seed, i);
      Timeline faulty = timeline;
      (seed % 2 == 0 ? faulty.spans[i].begin : faulty.spans[i].end) += Nanos{1};
      REQUIRE(!verify(faulty, program, random.machine, {}).empty());
    }
  }
}
