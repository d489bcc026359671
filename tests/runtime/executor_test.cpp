// What the executor computes: under every plan the same as without one.
#include "runtime/executor.h"

#include <ATen/ATen.h>

#include "runtime/host_device.h"
#include "tests/catch.h"
#include "tests/runtime/device_conformance.h"
#include "tests/runtime/small_transformer.h"
#include "traces/error.h"

using namespace stowage;

TEST_CASE("full training under every kind of plan equals a plain loop bit for bit") {
  const Machine machine = test_machine();
  HostDevice device(machine);
  require_conformance({device, c10::DeviceType::CPU, machine}, false,
                      settings_of_every_kind({SwapMode::two_way}));
}

TEST_CASE("training of adapters under every kind of plan equals a plain loop bit for bit") {
  const Machine machine = test_machine();
  HostDevice device(machine);
  require_conformance({device, c10::DeviceType::CPU, machine}, true,
                      settings_of_every_kind({SwapMode::h2d, SwapMode::two_way, SwapMode::stream}));
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
