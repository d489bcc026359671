// What memory is made of adds up to the curves that the engine keeps.
#include "simulator/composition.h"

#include <map>

#include "plan/block_table.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "tests/simulator/random_plan.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

std::vector<MemorySample> sum_of(const std::vector<KindCurve>& curves) {
  std::map<Nanos, Bytes> changes;
  for (const KindCurve& curve : curves) {
    Bytes before;
    for (const MemorySample& sample : curve.samples) {
      changes[sample.at] += sample.bytes - before;
      before = sample.bytes;
    }
  }
  std::vector<MemorySample> sum;
  Bytes level;
  for (const auto& [at, by] : changes) {
    level += by;
    if (sum.empty() ? level != Bytes{} : level != sum.back().bytes) sum.push_back({at, level});
  }
  return sum;
}

const KindCurve& curve_of(const std::vector<KindCurve>& curves, BufferKind kind) {
  for (const KindCurve& curve : curves)
    if (curve.kind == kind) return curve;
  throw std::logic_error("no such kind");
}

}  // namespace

TEST_CASE("the worked example's memory by kind") {
  const BlockTable table(example_profile());
  const Program program = compile(table, expand(table, {}).plan);
  const Simulated simulated = tests::simulate(program, plain_machine());
  const auto parts = composition(program, simulated.timeline, PinnedRounding::exact);
  REQUIRE(parts);
  // Four blocks of 5 B, from start to end.
  REQUIRE(curve_of(parts->device, BufferKind::weights).samples == std::vector<MemorySample>{{{0}, {20}}});
  // 20 B more with each forward, from 0; less at the end of each backward, from 66 (40 of forwards, 6 of
  // loss).
  REQUIRE(curve_of(parts->device, BufferKind::saved).samples == std::vector<MemorySample>{{{0}, {20}},
                                                                                          {{10}, {40}},
                                                                                          {{20}, {60}},
                                                                                          {{30}, {80}},
                                                                                          {{66}, {60}},
                                                                                          {{86}, {40}},
                                                                                          {{106}, {20}},
                                                                                          {{126}, {0}}});
  REQUIRE(parts->host.empty());
  REQUIRE(parts->pinned == std::vector<MemorySample>{{{0}, {0}}});
}

TEST_CASE("a timeline of another program has no composition") {
  const BlockTable table(example_profile());
  const Program program = compile(table, expand(table, {}).plan);
  Timeline timeline = tests::simulate(program, plain_machine()).timeline;
  timeline.spans.pop_back();
  REQUIRE(!composition(program, timeline, PinnedRounding::exact));
  Settings recompute;
  recompute.policy = Policy::recompute;
  const Program other = compile(table, expand(table, recompute).plan);
  REQUIRE(!composition(program, tests::simulate(other, plain_machine()).timeline, PinnedRounding::exact));
}

TEST_CASE("kinds add up to the curves of device and host") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::rich_case(seed);
    const Program program = compiled(random, seed);
    const Simulated simulated = tests::simulate(program, random.machine);
    if (!std::holds_alternative<Ran>(simulated.outcome.verdict)) continue;
    const auto parts = composition(program, simulated.timeline, random.machine.host.pinned_rounding);
    REQUIRE(parts);
    REQUIRE(sum_of(parts->device) == simulated.timeline.memory.device);
    REQUIRE(sum_of(parts->host) == simulated.timeline.memory.host);
    REQUIRE(peak(parts->pinned) == simulated.outcome.run.peaks.host_pinned);
  }
}
