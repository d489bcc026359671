// Plans that went wrong in the field, or right, each with its numbers.
#include <cmath>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"

using namespace stowage;
using namespace stowage::tests;

namespace plan_reports_test {

constexpr std::int64_t mega = 1'000'000, giga = 1000 * mega, mebi = 1 << 20;

Profile chain(std::int64_t count, std::int64_t weight_bytes, std::int64_t saved_bytes = 0) {
  BlockProfile block;
  block.name = "block";
  block.count = count;
  block.times = {{20}, {40}, {}, {}, {}};
  block.sizes.weight = {weight_bytes};
  if (saved_bytes > 0) block.saved = {{"saved", {saved_bytes}, Scope::other, {}, {}}};
  Profile profile;
  profile.name = "chain";
  profile.blocks = {block};
  return profile;
}

Settings with(Policy policy) {
  Settings settings;
  settings.policy = policy;
  return settings;
}

Settings swapping(std::int64_t blocks, SwapMode mode = SwapMode::h2d) {
  Settings settings;
  settings.swap = {blocks, SwapWhich::last, mode};
  return settings;
}

Outcome outcome(const Profile& profile, const Settings& settings, const Machine& machine) {
  return simulate(profile, settings, machine).outcome;
}

Bytes device_peak(const Profile& profile, const Settings& settings) {
  return outcome(profile, settings, plain_machine()).run.peaks.device;
}

// Where the last forward of a chain ends whose blocks' weights all come from the host.
Nanos forward_end(std::vector<std::int64_t> transfers, std::int64_t prefetch) {
  Profile profile = chain(1, 0);
  const BlockProfile block = profile.blocks.front();
  profile.blocks.clear();
  for (std::int64_t bytes : transfers) {
    profile.blocks.push_back(block);
    profile.blocks.back().sizes.weight = {bytes};
  }
  const BlockTable table(profile);
  Plan plan = expand(table, {}).plan;
  plan.settings.reset();
  plan.transfer.prefetch = prefetch;
  for (BlockDecision& decision : plan.blocks) decision.weights = Residence::h2d;
  return simulate(compile(table, plan), plain_machine())
      .span(StepKind::forward, static_cast<std::uint32_t>(transfers.size() - 1))
      .end;
}

}  // namespace plan_reports_test

using namespace plan_reports_test;

// Compute 20 a block. Transfers of 30: without prefetch 8 * (30 + 20); with any, the first is waited for and
// the link sets the pace, 8 * 30 + 20. Of 10: 8 * (10 + 20), and 10 + 8 * 20. In turns 5 and 35: 4 * 5 + 4 *
// 35 + 8 * 20; one ahead, every second block waits for its 35, which is issued when the block before it
// begins: 5 + 35 + 20, then 55 for each further two; two ahead all of it is hidden but for the start: 5 + 35,
// then 7 * 20.
TEST_CASE("deeper prefetch pays where blocks are uneven, and only there") {
  const std::vector<std::int64_t> slow(8, 30), fast(8, 10), uneven{5, 35, 5, 35, 5, 35, 5, 35};
  REQUIRE(forward_end(slow, 0) == Nanos{400});
  for (std::int64_t prefetch : {1, 2, 3}) REQUIRE(forward_end(slow, prefetch) == Nanos{260});
  REQUIRE(forward_end(fast, 0) == Nanos{240});
  for (std::int64_t prefetch : {1, 2, 3}) REQUIRE(forward_end(fast, prefetch) == Nanos{170});
  REQUIRE(forward_end(uneven, 0) == Nanos{320});
  REQUIRE(forward_end(uneven, 1) == Nanos{225});
  REQUIRE(forward_end(uneven, 2) == Nanos{180});
  REQUIRE(forward_end(uneven, 3) == Nanos{180});
}

// pytorch/pytorch#197838: four blocks keep 100 each, and recomputing one takes 120, 120, 350 or 120 with its
// own 100 in it, while what earlier blocks keep is there. Dropping any of them keeps 300:
//   none       after the forward     400
//   1          after the forward     300; its own recomputation takes 120
//   2          after the forward     300; 100 + 120
//   3          its recomputation     200 + 350 = 550, more than dropping nothing
//   4          its recomputation     300 + 120 = 420
TEST_CASE("what is dropped is judged by the peak of its recomputation") {
  const std::int64_t working[] = {120, 120, 350, 120};
  const auto peak_without = [&](std::optional<std::uint32_t> dropped) {
    ProgramBuilder builder;
    const auto live = [&](std::int64_t bytes, Trigger from, Trigger to) {
      const BufferId id = builder.buffer({Space::device, BufferKind::saved, 0, {}, {bytes}});
      builder.alloc(id, from);
      builder.free(id, to);
    };
    std::array<StepId, 4> forwards;
    for (std::uint32_t i = 0; i < 4; ++i) forwards[i] = builder.compute(StepKind::forward, i, {10});
    for (std::uint32_t i = 4; i-- > 0;) {
      if (i != dropped) {
        live(100, {forwards[i], Edge::begin}, {builder.compute(StepKind::backward, i, {10}), Edge::end});
        continue;
      }
      const StepId again = builder.compute(StepKind::recompute, i, {10});
      live(working[i] - 100, {again, Edge::begin}, {again, Edge::end});
      live(100, {again, Edge::begin}, {builder.compute(StepKind::backward, i, {10}), Edge::end});
    }
    return simulate(builder.finish(one_stream), plain_machine()).run().peaks.device.value;
  };
  REQUIRE(peak_without({}) == 400);
  const std::int64_t peaks[] = {300, 300, 550, 420};
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(peak_without(i) == peaks[i]);
}

// 25.8 GB of weights, 22.64 of them in 28 blocks. A guard refused to swap them all on a card of 16 GB,
// because it counted 25.8; what stays is 3.16, and with one load ahead two blocks of 0.81 are there at once.
// In fp8 all is half: a second guard subtracted 22.64 from 12.9.
TEST_CASE("what is swapped away does not count against the card") {
  for (std::int64_t halves : {2, 1}) {
    Profile profile = chain(28, 22'640 * mega / 28 * halves / 2);
    const std::int64_t block = profile.blocks[0].sizes.weight.value;
    profile.fixed.resident = {(25'800 - 22'640) * mega * halves / 2};
    Machine card = plain_machine();
    card.device.memory = {16 * giga};
    const BlockTable table(profile);
    Plan plan = expand(table, {}).plan;
    for (BlockDecision& decision : plan.blocks) decision.weights = Residence::h2d;
    const Outcome swapped = Engine(card).simulate(compile(table, plan));
    REQUIRE(std::holds_alternative<Ran>(swapped.verdict));
    REQUIRE(swapped.run.peaks.device == profile.fixed.resident + Bytes{2 * block});
    const Outcome kept = outcome(profile, {}, card);
    REQUIRE(std::holds_alternative<OutOfMemory>(kept.verdict) == (halves == 2));
    REQUIRE(kept.run.peaks.device == profile.fixed.resident + Bytes{28 * block});
  }
}

// 40 blocks of 340 MB, recomputed, at 12 GB/s: each is used twice, the last one once for both, and each use
// is a load, and with two-way swapping a store: 79 * 0.34 GB = 26.9 GB, 2.24 s one way and 4.48 s both.
TEST_CASE("two-way swapping of frozen weights wastes half of the traffic") {
  Profile profile = chain(40, 340 * mega);
  const BlockTable table(profile);
  Plan plan = expand(table, with(Policy::recompute)).plan;
  for (Residence weights : {Residence::h2d, Residence::two_way}) {
    for (BlockDecision& decision : plan.blocks) decision.weights = weights;
    const Timeline timeline = simulate(compile(table, plan), plain_machine()).timeline;
    const std::int64_t bytes = timeline.counters.at("bytes_h2d") + timeline.counters.at("bytes_d2h");
    REQUIRE(bytes == (weights == Residence::h2d ? 1 : 2) * 79 * 340 * mega);
    const double seconds = static_cast<double>(bytes) / 12e9;
    REQUIRE(std::abs(seconds - (weights == Residence::h2d ? 2.24 : 4.48)) < 0.01);
  }
}

// 40 blocks of 0.34 GB, 36 GB of activations, a card of 48 GB: swapping 38 instead of 20 saves 18 * 0.34 =
// 6.12 GB of weights and none of the activations.
TEST_CASE("swapping weights does not help where activations are the peak") {
  const Profile profile = chain(40, 340 * mega, 900 * mega);
  const Bytes some = device_peak(profile, swapping(20)), nearly_all = device_peak(profile, swapping(38));
  REQUIRE(some - nearly_all == Bytes{18 * 340 * mega});
  REQUIRE(nearly_all > Bytes{36 * giga});
  REQUIRE(device_peak(profile, with(Policy::recompute)) == Bytes{(40 * 340 + 900) * mega});
}

// LTX, 28 blocks, in MiB: in bf16 3870 and 175 that each block saves, in fp8 2230 and 544. Without
// checkpointing 3870 + 28 * 175 = 8770 and 2230 + 28 * 544 = 17462 (published: 8.77 and 17.45 GiB); with it
// 4045 and 2774.
TEST_CASE("quantised weights lower the peak only together with checkpointing") {
  Profile bf16 = chain(28, 0, 175 * mebi), fp8 = chain(28, 0, 544 * mebi);
  bf16.fixed.resident = {3870 * mebi};
  fp8.fixed.resident = {2230 * mebi};
  REQUIRE(device_peak(bf16, with(Policy::keep)) == Bytes{8770 * mebi});
  REQUIRE(device_peak(fp8, with(Policy::keep)) == Bytes{17'462 * mebi});
  REQUIRE(device_peak(bf16, with(Policy::recompute)) == Bytes{4045 * mebi});
  REQUIRE(device_peak(fp8, with(Policy::recompute)) == Bytes{2774 * mebi});
}

// 32 blocks, 4096 wide, 3072 tokens of bf16: what passes between blocks takes 24 MiB. Attention saves 4 such
// tensors, the feed-forward part 5. Published on an H100, in GiB: none 14.56, feed-forward recomputed 11.65,
// and its inputs on the CPU 10.92; blocks recomputed 8.01, and their inputs on the CPU 7.30.
//
//   feed-forward: 31 * 5 - 32 = 123 tensors, 2.88 GiB, less (block 31's five are there at the peak)
//   whole blocks: 31 * 9 = 279 tensors, 6.54 GiB, less
//   their inputs: 31 of 32 are away at the peak, 0.73 GiB
TEST_CASE("the published sweep of feed-forward and layer checkpointing") {
  constexpr std::int64_t tensor = 24 * mebi;
  Profile profile = chain(32, 0, 4 * tensor);
  BlockProfile& block = profile.blocks[0];
  block.saved[0].scope = Scope::attention;
  block.saved.push_back({"ffn", {5 * tensor}, Scope::ffn, {}, {}});
  block.sizes.input = profile.fixed.output = {tensor};
  block.times = {{50'000'000}, {100'000'000}, {}, {}, {}};  // longer than a copy of 24 MiB
  block.times.scope_forward[1] = Nanos{17'000'000};
  const auto gibi = [](double size) { return size * (1 << 30); };
  profile.fixed.resident =
      Bytes{static_cast<std::int64_t>(gibi(14.56))} - device_peak(profile, with(Policy::keep));
  const auto check = [&](Policy policy, std::optional<Scope> scope, double published) {
    Settings settings = with(policy);
    settings.scope = scope;
    settings.transfer.prefetch = 0;
    const double peak = static_cast<double>(device_peak(profile, settings).value);
    REQUIRE(std::abs(peak / gibi(published) - 1) < 0.005);
  };
  check(Policy::recompute, Scope::ffn, 11.65);
  check(Policy::recompute_offload, Scope::ffn, 10.92);
  check(Policy::recompute, {}, 8.01);
  check(Policy::recompute_offload, {}, 7.30);
}

// A linear layer of 4096 x 4096 and an activation of 512 x 4096, bf16: 32 MiB of weights that autograd refers
// to, and 4 MiB that it keeps. Weights are no saved tensors of a profile, so offloading sends 4 MiB. What a
// checkpointed block saves is made in its backward: of offloading around a checkpoint only inputs travel, and
// inside of one there is nothing to send when the forward ends.
TEST_CASE("offloading moves activations, never parameters") {
  Profile profile = chain(2, 32 * mebi, 4 * mebi);
  profile.blocks[0].sizes.input = {mebi};
  const auto sent = [&](Policy policy) {
    return outcome(profile, with(policy), plain_machine()).run.peaks.host_activation;
  };
  REQUIRE(sent(Policy::offload) == Bytes{2 * 4 * mebi});
  REQUIRE(sent(Policy::recompute_offload) == Bytes{2 * mebi});
  Plan inside = expand(BlockTable(profile), with(Policy::recompute)).plan;
  inside.blocks[0].offload = {0};
  REQUIRE_THROWS_AS(check(inside, BlockTable(profile)), InputError);
}

// 346 GB of optimizer states for a host of 256 GB: 90 GB short, which no card makes up for.
TEST_CASE("a host that is too small for the optimizer is found before the run") {
  Profile profile = chain(1, 0);
  profile.fixed.optimizer_state = {346 * giga};
  profile.fixed.host_optimizer = Nanos{1};
  Settings settings;
  settings.step.optimizer = OptimizerPlace::host;
  Machine machine = plain_machine();
  machine.host.memory = {256 * giga};
  const Outcome found = outcome(profile, settings, machine);
  const auto& shortage = std::get<OutOfMemory>(found.verdict);
  REQUIRE(shortage.space == MemorySpace::host);
  REQUIRE(shortage.needed - shortage.free == Bytes{90 * giga});
}

// 10,000 tensors of 16 KiB at 25 GB/s: 0.656 us each, and 10 us until it starts. One tensor as large as all
// of them takes 6.55 ms and 10 us.
TEST_CASE("many small copies are nothing but latency") {
  Machine machine = plain_machine();
  machine.links.h2d = machine.links.d2h = {{25 * giga}, {10'000}};
  Profile many = chain(1, 0), one = chain(1, 0, 10'000 * 16'384);
  for (int i = 0; i < 10'000; ++i)
    many.blocks[0].saved.push_back({"saved." + std::to_string(i), {16'384}, Scope::other, {}, {}});
  const auto out = [&](const Profile& profile) {
    const Timeline timeline = simulate(profile, with(Policy::offload), machine).timeline;
    Nanos busy;
    for (const Span& span : timeline.spans)
      if (span.lane == Lane::d2h) busy += span.end - span.begin;
    return busy;
  };
  REQUIRE(out(many) == Nanos{10'000 * (10'000 + 656)});
  REQUIRE(out(one) == Nanos{10'000 + 6'553'600});
}
