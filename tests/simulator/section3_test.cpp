// The table of the design's section 3, row by row: four blocks of forward 10 and backward 20, saved tensors
// of 12 and 8 bytes, links at one byte a nanosecond. Compute is 4 * (10 + 20) + 6 + 4 = 130, and 10 more for
// each block that runs its forward again.
#include <cstdio>
#include <string>

#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/example_settings.h"
#include "tests/simulator/hand_made.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

struct Row {
  Settings settings;
  std::int64_t step, stall, device, activations;
};

Settings strided() {
  Settings settings = settings_of(Policy::recompute);
  settings.stride = 2;
  return settings;
}

Settings attention_only() {
  Settings settings = settings_of(Policy::offload, 1, 2);
  settings.scope = Scope::attention;
  return settings;
}

Settings swapping(Policy policy, SwapMode mode) {
  Settings settings = settings_of(policy);
  settings.swap = {3, SwapWhich::last, mode};
  return settings;
}

std::string line(const Settings& settings, std::int64_t step, std::int64_t stall, std::int64_t device,
                 std::int64_t activations) {
  char text[160];
  std::snprintf(text, sizeof text, "%-36s step %3d  stall %3d  device %3d  host activations %2d",
                describe(settings).c_str(), static_cast<int>(step), static_cast<int>(stall),
                static_cast<int>(device), static_cast<int>(activations));
  return text;
}

}  // namespace

TEST_CASE("the worked example, all ten rows") {
  const Row rows[] = {
      {settings_of(Policy::keep), 130, 0, 217, 0},
      {settings_of(Policy::recompute), 170, 0, 157, 0},
      {settings_of(Policy::recompute, 2), 170, 0, 175, 0},
      {strided(), 150, 0, 177, 0},
      {settings_of(Policy::offload), 186, 56, 212, 80},
      {settings_of(Policy::offload, 1, 0), 246, 116, 198, 80},
      {attention_only(), 154, 24, 212, 48},
      {settings_of(Policy::recompute_offload, 2), 170, 0, 175, 4},
      {swapping(Policy::keep, SwapMode::h2d), 130, 0, 212, 0},
      {swapping(Policy::recompute, SwapMode::two_way), 170, 0, 154, 0},
  };
  std::string expected, simulated;
  for (const Row& row : rows) {
    const Run run = simulate(example_profile(), row.settings, plain_machine()).run();
    expected += line(row.settings, row.step, row.stall, row.device, row.activations) + "\n";
    simulated += line(row.settings, run.step.value, run.stall().value, run.peaks.device.value,
                      run.peaks.host_activation.value) +
                 "\n";
  }
  std::printf("expected\n%s\nsimulated\n%s\n", expected.c_str(), simulated.c_str());
  REQUIRE(simulated == expected);
}

// Stores follow the forwards, 20 ns a block: [10, 30), [30, 50), [50, 70), and for block 3 [70, 82) and [82,
// 90). Compute is done with the epilogue at 46 and waits for block 3: until 82 its first store has not ended,
// then its restores run, [82, 94) and [94, 102). Each block after it comes back in 20 ns while the one before
// it is in its backward of 20, so that nothing more waits: 56 in all.
TEST_CASE("where the stall of the offload row comes from") {
  const Simulated result = simulate(example_profile(), settings_of(Policy::offload), plain_machine());
  REQUIRE(result.timeline.stalls ==
          std::vector<Stall>{{StallCause::store, 3, {46}, {82}}, {StallCause::restore, 3, {82}, {102}}});
}
