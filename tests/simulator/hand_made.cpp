#include "tests/simulator/hand_made.h"

#include "simulator/engine.h"
#include "simulator/evaluator.h"
#include "simulator/verify.h"
#include "tests/catch.h"

namespace stowage::tests {
namespace {

constexpr Bytes plenty{std::int64_t{1} << 60};
constexpr Rate byte_per_ns{1'000'000'000};

}  // namespace

Machine plain_machine() {
  Machine machine;
  machine.device.memory = plenty;
  machine.host = {plenty, plenty, PinnedRounding::exact};
  machine.links.h2d.rate = machine.links.d2h.rate = machine.links.pageable = byte_per_ns;
  return machine;
}

Step store(std::uint32_t block, std::int64_t bytes, Trigger issue) {
  return {StepKind::store_saved, Lane::d2h, block, 0, {}, {bytes}, issue};
}

Step restore(std::uint32_t block, std::int64_t bytes, Trigger issue) {
  return {StepKind::restore_saved, Lane::h2d, block, 0, {}, {bytes}, issue};
}

Step load(std::uint32_t block, std::int64_t bytes, Trigger issue) {
  return {StepKind::load_weights, Lane::h2d, block, {}, {}, {bytes}, issue};
}

Step store_weights(std::uint32_t block, std::int64_t bytes, Trigger issue) {
  return {StepKind::store_weights, Lane::d2h, block, {}, {}, {bytes}, issue};
}

Span Simulated::span(StepKind kind, std::uint32_t block) const {
  std::optional<Span> found;
  for (const Span& span : timeline.spans) {
    if (span.kind != kind || span.block != block) continue;
    REQUIRE(!found);
    found = span;
  }
  REQUIRE(found);
  return *found;
}

Simulated simulate(const Program& program, const Machine& machine) {
  Simulated result;
  Engine engine(machine);
  result.outcome = engine.simulate(program, result.timeline);
  const bool deadlock = std::holds_alternative<Deadlock>(result.outcome.verdict);
  REQUIRE(engine.simulate(program).run == result.run());
  if (Evaluator::serves(machine) && Evaluator(machine).serves(program)) {
    const std::optional<Run> evaluated = Evaluator(machine).evaluate(program);
    REQUIRE(evaluated.has_value() == !deadlock);
    REQUIRE((deadlock || *evaluated == result.run()));
  }
  if (!deadlock) REQUIRE(verify(result.timeline, program, machine, {}) == std::vector<std::string>{});
  Nanos stalled;
  for (Nanos stall : result.run().stalls) stalled += stall;
  REQUIRE(stalled == result.run().stall());
  return result;
}

Simulated simulate(const Profile& profile, const Settings& settings, const Machine& machine) {
  const BlockTable table(profile);
  return simulate(compile(table, expand(table, settings).plan), machine);
}

}  // namespace stowage::tests
