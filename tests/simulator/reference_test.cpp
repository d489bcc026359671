#include "tests/simulator/reference.h"

#include <stdio.h>

#include <string>

#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/simulator/example_settings.h"
#include "tests/simulator/random_case.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Section 3's worked example: four blocks, one byte a nanosecond each way, no latency.
reference::Answer example(const Settings& settings) {
  BlockProfile block;
  block.count = 4;
  block.times.forward = {10};
  block.times.backward = {20};
  block.sizes = {{2}, {5}, {1}, {3}, {4}, {}, {}};
  block.saved = {{"qkv", {12}, Scope::attention, {}, {}}, {"hidden", {8}, Scope::ffn, {}, {}}};
  Profile profile;
  profile.fixed.resident = {100};
  profile.fixed.output = {2};
  profile.fixed.epilogue = {6};
  profile.fixed.optimizer = {4};
  profile.blocks = {block};
  Machine machine;
  machine.links.h2d.rate = machine.links.d2h.rate = {1'000'000'000};
  machine.host.pinned_limit = {1'000'000};
  return reference::simulate(profile, machine, settings);
}

std::string second_reference(const std::string& option) {
  return "python3 '" + tests::source_folder() + "/tests/simulator/reference.py' " + option;
}

// A case with its answer, as the second reference reads it.
std::string line(const reference::Case& random) {
  const auto answer = reference::simulate(random.profile, random.machine, random.settings);
  std::string text = to_json(random);
  text.pop_back();
  text += ", \"answer\": {\"step_ns\": " + std::to_string(answer.step_ns);
  text += ", \"compute_ns\": " + std::to_string(answer.compute_ns);
  text += ", \"stall_ns\": " + std::to_string(answer.stall_ns);
  text += ", \"peak_bytes\": " + std::to_string(answer.peak_bytes);
  text += ", \"host_activation_peak_bytes\": " + std::to_string(answer.host_activation_peak_bytes);
  text += ", \"host_pinned_peak_bytes\": " + std::to_string(answer.host_pinned_peak_bytes);
  text += ", \"disk_peak_bytes\": " + std::to_string(answer.disk_peak_bytes);
  text += ", \"pinned_on_device_bytes\": " + std::to_string(answer.pinned_on_device_bytes);
  return text + "}}\n";
}

}  // namespace

// Compute is 4 * (10 + 20) + 6 + 4 = 130, and 4 * 10 more (2 * 10 with every second block) where blocks run
// their forward again.
TEST_CASE("the reference gives the worked example") {
  using A = reference::Answer;
  REQUIRE(example(settings_of(Policy::keep)) == A{130, 130, 0, 217, 0, 0});
  REQUIRE(example(settings_of(Policy::recompute)) == A{170, 170, 0, 157, 0, 0});
  REQUIRE(example(settings_of(Policy::recompute, 2)) == A{170, 170, 0, 175, 0, 0});
  Settings alternate = settings_of(Policy::recompute);
  alternate.stride = 2;
  REQUIRE(example(alternate) == A{150, 150, 0, 177, 0, 0});
  REQUIRE(example(settings_of(Policy::offload)) == A{186, 130, 56, 212, 80, 80});
  REQUIRE(example(settings_of(Policy::offload, 1, 0)) == A{246, 130, 116, 198, 80, 80});
  Settings attention = settings_of(Policy::offload, 1, 2);
  attention.scope = Scope::attention;
  REQUIRE(example(attention) == A{154, 130, 24, 212, 48, 48});
  REQUIRE(example(settings_of(Policy::recompute_offload, 2)) == A{170, 170, 0, 175, 4, 4});
  Settings frozen = settings_of(Policy::keep);
  frozen.swap = {3, SwapWhich::last, SwapMode::h2d};
  REQUIRE(example(frozen) == A{130, 130, 0, 212, 0, 15});
  Settings trained = settings_of(Policy::recompute);
  trained.swap = {3, SwapWhich::last, SwapMode::two_way};
  REQUIRE(example(trained) == A{170, 170, 0, 154, 0, 15});
}

TEST_CASE("the second reference gives the worked example") {
  FILE* script = popen(second_reference("--table > /dev/null").c_str(), "w");
  REQUIRE(script != nullptr);
  REQUIRE(pclose(script) == 0);
}

// Prints the cases that differ.
TEST_CASE("the two references agree on random cases") {
  FILE* script = popen(second_reference("--check").c_str(), "w");
  REQUIRE(script != nullptr);
  for (std::uint64_t seed = 0; seed < cases(200); ++seed)
    fputs(line(reference::random_case(seed)).c_str(), script);
  for (std::uint64_t seed = 0; seed < cases(200); ++seed)
    fputs(line(reference::random_pooled_case(seed)).c_str(), script);
  for (std::uint64_t seed = 0; seed < cases(200); ++seed)
    fputs(line(reference::tiered_case(seed)).c_str(), script);
  REQUIRE(pclose(script) == 0);
}
