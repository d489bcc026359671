// What steps that were measured say about the figures of a plan, and about the plan.
#include "tuner/correction.h"

#include "plan/program.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

Timeline timeline_of(const Figures& figures, const Settings& settings) {
  const BlockTable table(figures.profile);
  Timeline timeline;
  Engine(figures.machine).simulate(compile(table, expand(table, settings).plan), timeline);
  return timeline;
}

Figures example() {
  return {example_profile(), plain_machine()};
}

// The machine as it turns out to be: blocks as named take `factor` as long, and copies go at 1 / `slower`.
Figures turned_out(std::int64_t factor, std::int64_t slower_in_ns_a_byte) {
  Figures real = example();
  real.profile.blocks = real.profile.expanded();
  for (BlockProfile& block : real.profile.blocks) {
    block.times.forward.value *= factor;
    block.times.backward.value *= factor;
  }
  for (Link* link : {&real.machine.links.h2d, &real.machine.links.d2h})
    link->rate.bytes_per_second /= slower_in_ns_a_byte;
  return real;
}

Settings settings_of(Policy policy, std::int64_t prefetch = 1) {
  Settings settings;
  settings.policy = policy;
  settings.transfer.prefetch = prefetch;
  return settings;
}

Observation observe(const Figures& said, const Figures& real, const Settings& settings) {
  return {timeline_of(said, settings), {timeline_of(real, settings)}};
}

TuneRequest correction_request(std::int64_t device) {
  TuneRequest request;
  request.budget = {{device}, {1'000'000}, {1'000'000}};
  return request;
}

}  // namespace

// Forwards of 10 that took 30, backwards of 20 that took 60, copies of 1 byte a nanosecond that took 4.
TEST_CASE("figures are refitted to what was measured, exactly") {
  const Figures real = turned_out(3, 4);
  const Observation seen = observe(example(), real, settings_of(Policy::offload));
  const Refit fit = refit(example(), seen.predicted, seen.measured);
  REQUIRE(fit.figures.profile.blocks.size() == 4);
  for (const BlockProfile& block : fit.figures.profile.blocks) {
    REQUIRE(block.times.forward == Nanos{30});
    REQUIRE(block.times.backward == Nanos{60});
  }
  REQUIRE(fit.figures.profile.fixed == example().profile.fixed);
  REQUIRE(fit.figures.machine.links.h2d.rate == Rate{250'000'000});
  REQUIRE(timeline_of(fit.figures, settings_of(Policy::offload)) == seen.measured.front());
  // 80 B go each way; at 4 ns a byte instead of 1 they take 240 ns longer, a backward 40.
  REQUIRE(fit.drift.front().lane != Lane::compute);
  REQUIRE(fit.drift.front().measured - fit.drift.front().predicted == Nanos{240});
}

TEST_CASE("recomputation counts with the forward it repeats") {
  const Observation seen = observe(example(), turned_out(2, 1), settings_of(Policy::recompute));
  const Refit fit = refit(example(), seen.predicted, seen.measured);
  REQUIRE(fit.figures.profile.blocks.front().times.forward == Nanos{20});
  // A lane that stood idle keeps its rate.
  REQUIRE(fit.figures.machine == example().machine);
}

TEST_CASE("of several steps the median counts") {
  Observation seen = observe(example(), turned_out(2, 1), settings_of(Policy::keep));
  for (std::int64_t factor : {2, 9}) {
    const Figures real = turned_out(factor, 1);
    seen.measured.push_back(timeline_of(real, settings_of(Policy::keep)));
  }
  const Refit fit = refit(example(), seen.predicted, seen.measured);
  REQUIRE(fit.figures.profile.blocks.back().times.backward == Nanos{40});
}

TEST_CASE("steps of another plan are refused") {
  const Observation seen{timeline_of(example(), settings_of(Policy::keep)),
                         {timeline_of(example(), settings_of(Policy::offload))}};
  REQUIRE_THROWS_AS(refit(example(), seen.predicted, seen.measured), InputError);
  REQUIRE_THROWS_AS(refit(example(), seen.predicted, {}), InputError);
}

// Offloading was to cost 186 - 130 = 56 ns in 212 B. Copies turn out four times as slow, so that recomputing,
// which takes 170 in 157 B, is better.
TEST_CASE("a plan is replaced where its copies turn out slow, and only then") {
  const BlockTable table(example().profile);
  const Plan plan = expand(table, settings_of(Policy::offload)).plan;
  const TuneRequest request = correction_request(213);
  const Observation slow = observe(example(), turned_out(1, 4), settings_of(Policy::offload));
  const Correction correction = correct(example(), plan, slow, request);
  REQUIRE(correction.now.step == slow.step());
  REQUIRE(correction.better);
  REQUIRE(correction.better->run.step <= Nanos{170});
  REQUIRE(correction.better->run.peaks.device <= Bytes{213});

  const Plan best = tune(table, example().machine, request).best->plan;
  const Observation good{timeline_of(example(), *best.settings), {timeline_of(example(), *best.settings)}};
  REQUIRE(!correct(example(), best, good, request).better);
}

// Three steps that differ by more than what another plan would gain.
TEST_CASE("a gain within what steps differ by does not pay") {
  const BlockTable table(example().profile);
  const Plan plan = expand(table, settings_of(Policy::offload)).plan;
  Observation seen = observe(example(), example(), settings_of(Policy::offload));
  REQUIRE(correct(example(), plan, seen, correction_request(213)).better);
  seen.measured.assign(3, seen.measured.front());
  seen.measured.front().step.value += 100;
  REQUIRE(!correct(example(), plan, seen, correction_request(213)).better);
}

// What was measured is what keeping everything takes: 130 ns and 217 B, where recomputing was to take 170 and
// 157.
TEST_CASE("a setting that did nothing is named") {
  const Observation ignored{timeline_of(example(), settings_of(Policy::recompute)),
                            {timeline_of(example(), settings_of(Policy::keep))}};
  const std::vector<Inert> inert = without_effect(example(), settings_of(Policy::recompute), ignored);
  REQUIRE(inert.size() == 1);
  REQUIRE(inert.front().setting == "recompute");
  REQUIRE(inert.front().with.peaks.device == Bytes{157});
  REQUIRE(inert.front().without.peaks.device == Bytes{217});

  const Observation obeyed = observe(example(), example(), settings_of(Policy::recompute));
  REQUIRE(without_effect(example(), settings_of(Policy::recompute), obeyed).empty());
}

// The plan recomputes and swaps; only the swap is ignored.
TEST_CASE("only the setting that did nothing is named") {
  Settings both = settings_of(Policy::recompute);
  both.swap.blocks = 3;
  const Observation ignored{timeline_of(example(), both),
                            {timeline_of(example(), settings_of(Policy::recompute))}};
  const std::vector<Inert> inert = without_effect(example(), both, ignored);
  REQUIRE(inert.size() == 1);
  REQUIRE(inert.front().setting == "swap 3 last");
}

// Pinning takes 1000 ns a buffer, in the first step alone: offloading takes 186 ns again, as in the execution
// model's table, and is to be held against others so.
TEST_CASE("a plan in use is priced as the search prices others, its buffers pinned") {
  Figures pinning = example();
  pinning.machine.host.pinning.each = Nanos{1000};
  const Plan plan = expand(BlockTable(pinning.profile), settings_of(Policy::offload)).plan;
  const Observation seen = observe(pinning, pinning, settings_of(Policy::offload));
  REQUIRE(correct(pinning, plan, seen, correction_request(1000)).now.step == Nanos{186});
}
