// What the executor computes: under every plan the same as without one.
#include "runtime/executor.h"

#include <ATen/ATen.h>

#include "runtime/host_device.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/runtime/small_transformer.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// Trains under each of the settings; all must leave the same bits as the plain loop, and a timeline that
// the program allows.
void compare_all(bool lora, const std::vector<Settings>& all) {
  const Machine machine = test_machine();
  HostDevice device(machine);
  const Profile profile = small_profile(lora, device);
  const Training plain = train_plainly(small_transformer(lora), small_batch, 3);
  for (const Settings& settings : all) {
    INFO(describe(settings));
    const Program program = program_of(profile, settings);
    const auto see = [&](const StepReport& report) {
      REQUIRE(verify(report.timeline, program, machine, {}) == std::vector<std::string>{});
    };
    const Training planned = train(small_transformer(lora), small_batch, 3, device, {program}, see);
    REQUIRE(difference(plain, planned) == "");
  }
}

}  // namespace

TEST_CASE("full training under every kind of plan equals a plain loop bit for bit") {
  compare_all(false, settings_of_every_kind({SwapMode::two_way}));
}

TEST_CASE("training of adapters under every kind of plan equals a plain loop bit for bit") {
  compare_all(true, settings_of_every_kind({SwapMode::h2d, SwapMode::two_way}));
}

TEST_CASE("plans may change from step to step") {
  HostDevice device(test_machine());
  const Profile profile = small_profile(false, device);
  Settings recompute, swap, offload;
  recompute.policy = Policy::recompute;
  swap.swap = {3, SwapWhich::last, SwapMode::two_way};
  offload.policy = Policy::offload;
  offload.swap = {2, SwapWhich::first, SwapMode::two_way};
  std::vector<Program> programs;
  for (const Settings& settings : {Settings{}, recompute, swap, offload})
    programs.push_back(program_of(profile, settings));
  const Training plain = train_plainly(small_transformer(false), small_batch, 5);
  REQUIRE(difference(plain, train(small_transformer(false), small_batch, 5, device, programs)) == "");
}

TEST_CASE("trained weights are not dropped after use") {
  HostDevice device(test_machine());
  Settings settings;
  settings.swap = {2, SwapWhich::last, SwapMode::h2d};
  const Program program = program_of(small_profile(false, device), settings);
  REQUIRE_THROWS_WITH(train(small_transformer(false), small_batch, 1, device, {program}),
                      "program: swap_mode: \"h2d\" drops the weights of block 3 after use, but they are "
                      "trained: expected \"two-way\"");
}

TEST_CASE("a program for another chain is refused") {
  HostDevice device(test_machine());
  REQUIRE_THROWS_AS(
      train(small_transformer(false), small_batch, 1, device, {program_of(bare_profile(4), {})}), InputError);
}

TEST_CASE("a program that moves other sizes than the model has is refused") {
  HostDevice device(test_machine());
  Profile profile = small_profile(false, device);
  profile.blocks[2].saved[1].bytes += Bytes{64};
  Settings settings;
  settings.policy = Policy::offload;
  REQUIRE_THROWS_AS(train(small_transformer(false), small_batch, 1, device, {program_of(profile, settings)}),
                    InputError);
}
