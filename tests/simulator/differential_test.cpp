// Three tellings of one model must agree: the reference, the engine, and the evaluator; and verify, which
// shares code with none of them, must find nothing.
#include "simulator/engine.h"
#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "tests/simulator/random_plan.h"
#include "tests/simulator/random_program.h"
#include "tests/simulator/reference.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

reference::Answer as_answer(const Run& run) {
  return {run.step.value,
          run.compute.value,
          run.stall().value,
          run.peaks.device.value,
          run.peaks.host_activation.value,
          run.peaks.host_pinned.value,
          run.peaks.disk.value,
          run.peaks.pinned_on_device.value};
}

}  // namespace

TEST_CASE("the engine agrees with the reference, from settings to figures") {
  std::array<int, stall_cause_count> stalled{};
  for (std::uint64_t seed = 0; seed < cases(2000); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::random_case(seed);
    CAPTURE(describe(random.settings));
    const Run run = simulate(random.profile, random.settings, random.machine).run();
    const reference::Answer answer = reference::simulate(random.profile, random.machine, random.settings);
    REQUIRE(as_answer(run) == answer);
    for (int cause = 0; cause < stall_cause_count; ++cause) stalled[cause] += run.stalls[cause] > Nanos{};
  }
  // The cases are of use: each cause of a stall that they can have occurs in many.
  for (StallCause cause : {StallCause::restore, StallCause::weights, StallCause::store, StallCause::drain})
    REQUIRE(stalled[static_cast<int>(cause)] > 50);
}

TEST_CASE("the engine agrees with the reference where pinned memory is short") {
  int pageable = 0, pinning = 0, evicting = 0, both = 0, counting = 0;
  for (std::uint64_t seed = 0; seed < cases(2000); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::random_pooled_case(seed);
    CAPTURE(describe(random.settings));
    const Simulated result = simulate(random.profile, random.settings, random.machine);
    const reference::Answer answer = reference::simulate(random.profile, random.machine, random.settings);
    REQUIRE(as_answer(result.run()) == answer);
    const auto& stalls = result.run().stalls;
    pageable += stalls[static_cast<int>(StallCause::pageable)] > Nanos{};
    pinning += stalls[static_cast<int>(StallCause::pinning)] > Nanos{};
    const auto count = [&](const char* name) {
      const auto found = result.timeline.counters.find(name);
      return found == result.timeline.counters.end() ? 0 : found->second;
    };
    counting += result.run().peaks.pinned_on_device > Bytes{};
    evicting += count("pinned_evictions") > 0;
    both += count("pageable_copies") > 0 && count("pinned_checkouts") > 0;
  }
  REQUIRE(pageable > 250);
  REQUIRE(pinning > 150);
  REQUIRE(evicting > 20);
  REQUIRE(both > 150);
  REQUIRE(counting > 250);
}

TEST_CASE("the engine agrees with the reference where some goes on to a disk") {
  int waited = 0, late = 0;
  for (std::uint64_t seed = 0; seed < cases(1000); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::tiered_case(seed);
    CAPTURE(describe(random.settings));
    const Run run = simulate(random.profile, random.settings, random.machine).run();
    REQUIRE(as_answer(run) == reference::simulate(random.profile, random.machine, random.settings));
    waited += run.stalls[static_cast<int>(StallCause::disk)] > Nanos{};
    late += run.peaks.disk > Bytes{};
  }
  REQUIRE(waited > 150);
  REQUIRE(late > 450);
}

// With a disk buffers return within the step, which the reference's pool does not know: here verify alone
// stands against the engine.
TEST_CASE("a pinned pool with a disk behind it is sound") {
  int reusing = 0;
  for (std::uint64_t seed = 0; seed < cases(500); ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::random_pooled_case(seed);
    const reference::Case tiered = reference::tiered_case(seed);
    random.machine.disk = tiered.machine.disk;
    random.settings.transfer.disk_over = tiered.settings.transfer.disk_over;
    const auto counters = simulate(random.profile, random.settings, random.machine).timeline.counters;
    const auto reuses = counters.find("pinned_reuses");
    reusing += reuses != counters.end() && reuses->second > 0;
  }
  REQUIRE(reusing > 50);
}

TEST_CASE("the engine agrees with the reference where layers stream and the optimizer is elsewhere") {
  for (std::uint64_t seed = 0; seed < cases(1000); ++seed) {
    CAPTURE(seed);
    const reference::Case rich = reference::rich_case(seed);
    CAPTURE(describe(rich.settings));
    REQUIRE(as_answer(simulate(rich.profile, rich.settings, rich.machine).run()) ==
            reference::simulate(rich.profile, rich.machine, rich.settings));
  }
}

// Each block recomputes, offloads or swaps for itself, or does several of these at once.
TEST_CASE("the engine agrees with the reference on free plans") {
  for (std::uint64_t seed = 0; seed < cases(1000); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::rich_case(seed);
    const Plan plan = random_plan(random.profile, seed);
    const BlockTable table(random.profile);
    check(plan, table);
    REQUIRE(parse_plan(to_json(plan, random.profile), random.profile) == plan);
    REQUIRE(as_answer(simulate(compile(table, plan), random.machine).run()) ==
            reference::simulate(random.profile, random.machine, plan));
  }
}

// A duplex share that is 1 but for less than the engine's resolution takes the way of shared rates, and comes
// to the same.
TEST_CASE("rates that are shared in name alone change nothing") {
  for (std::uint64_t seed = 0; seed < cases(500); ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::random_case(seed);
    const Simulated plain = simulate(random.profile, random.settings, random.machine);
    random.machine.links.duplex = 1.0 - 1e-12;
    const Simulated shared = simulate(random.profile, random.settings, random.machine);
    REQUIRE(shared.run() == plain.run());
    REQUIRE(shared.timeline == plain.timeline);
  }
}

TEST_CASE("engine, evaluator and verify agree on programs that no compiler writes") {
  int ran = 0, deadlocks = 0;
  for (std::uint64_t seed = 0; seed < cases(3000); ++seed) {
    CAPTURE(seed);
    const Program program = random_program(seed);
    const Outcome outcome = simulate(program, random_machine(seed, seed % 2 == 1)).outcome;
    ++(std::holds_alternative<Ran>(outcome.verdict) ? ran : deadlocks);
  }
  REQUIRE(ran > 1500);
  REQUIRE(deadlocks > 150);
}

TEST_CASE("the same program gives the same bytes") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = random_program(seed);
    const Machine machine = random_machine(seed, true);
    Timeline first, second;
    Engine engine(machine);
    engine.simulate(program, first);
    engine.simulate(random_program(seed + 1));
    engine.simulate(program, second);
    REQUIRE(to_json(first) == to_json(second));
  }
}
