// Several ranks on one host.
#include "plan/program_builder.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/traces/refusal.h"
#include "traces/machine.h"

using namespace stowage;

namespace ranks_test {

constexpr std::int64_t giga = 1'000'000'000;

// PCIe 4 x16: 25 GB/s for one; a host that gives 44 GB/s in all.
Machine eight_ranks() {
  Machine machine = tests::plain_machine();
  machine.host.memory = {512 * giga};
  machine.host.pinned_limit = {256 * giga};
  machine.links.h2d.rate = machine.links.d2h.rate = {25 * giga};
  machine.links.pageable = {9 * giga};
  machine.ranks = {8, Rate{44 * giga}};
  return machine;
}

}  // namespace ranks_test

using namespace ranks_test;

// Reported for eight cards that copy at once: 5 to 6 GB/s each, so that 1 GB takes 0.17 to 0.2 s and not the
// 0.04 s of one card alone. 44 / 8 = 5.5 GB/s, and 1 / 5.5 = 0.182 s.
TEST_CASE("eight ranks load 1 GB each at the same time") {
  ProgramBuilder builder;
  const StepId step = builder.compute(StepKind::forward, 0, {0});
  builder.wait(step, builder.copy(tests::load(0, giga, {step, Edge::ready})));
  const Program program = builder.finish({});
  Machine machine = eight_ranks();
  REQUIRE(tests::simulate(program, of_one_rank(machine)).run().step == Nanos{181'818'182});
  machine.ranks = {};
  REQUIRE(tests::simulate(program, of_one_rank(machine)).run().step == Nanos{40'000'000});
}

TEST_CASE("ranks share the host's memory") {
  const Machine one = of_one_rank(eight_ranks());
  REQUIRE(one.host.memory == Bytes{64 * giga});
  REQUIRE(one.host.pinned_limit == Bytes{32 * giga});
  REQUIRE(one.device == eight_ranks().device);
  REQUIRE(one.ranks == Ranks{});
  REQUIRE(one.links.pageable == Rate{5'500'000'000});
}

// A curve is cut off where the share is less; small copies are slower than their share anyway.
TEST_CASE("ranks that share one link") {
  Machine machine = eight_ranks();
  machine.ranks = {5, {}};  // 25 / 5
  machine.links.h2d.curve = {{{65536}, {2 * giga}}, {{1 << 20}, {20 * giga}}};
  const Link link = of_one_rank(machine).links.h2d;
  REQUIRE(link.rate == Rate{5 * giga});
  REQUIRE(link.curve == std::vector<CurvePoint>{{{65536}, {2 * giga}}, {{1 << 20}, {5 * giga}}});
}

TEST_CASE("ranks survive their file, and wrong ones are refused") {
  const std::string text = to_json(eight_ranks());
  REQUIRE(parse_machine(text) == eight_ranks());
  REQUIRE(to_json(of_one_rank(eight_ranks())).find("ranks") == std::string::npos);
  REQUIRE(refusal(parse_machine, changed(text, "\"count\": 8", "\"count\": 0")) ==
          "ranks.count: expected at least 1, not 0");
  REQUIRE(refusal(parse_machine, changed(text, "\"host_bytes_per_second\"", "\"host\"")) ==
          "ranks.host: unknown key");
}
