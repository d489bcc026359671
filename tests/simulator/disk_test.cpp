// A disk below host memory: what is offloaded over what the host keeps goes on to it, and comes back through
// the host. The worked example's four blocks, each with 20 B of saved tensors; a byte a nanosecond on the
// links.
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/example_settings.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"
#include "traces/export/chrome.h"

using namespace stowage;
using namespace stowage::tests;

namespace disk_test {

// So many nanoseconds a byte, the same both ways.
Machine machine_with_disk(std::int64_t nanos_a_byte = 1) {
  Machine machine = plain_machine();
  const Link link{{1'000'000'000 / nanos_a_byte}, {}};
  machine.disk = Disk{{1'000'000}, link, link};
  return machine;
}

Settings offload_over(std::int64_t stays) {
  Settings settings = settings_of(Policy::offload);
  settings.transfer.disk_over = Bytes{stays};
  return settings;
}

Nanos stalled(const Run& run, StallCause cause) {
  return run.stalls[static_cast<int>(cause)];
}

// Of the only span on this lane that moves this.
Span span_on(Lane lane, const Timeline& timeline, std::uint32_t block, std::uint32_t storage) {
  std::optional<Span> found;
  for (const Span& span : timeline.spans)
    if (span.lane == lane && span.block == block && span.storage == storage) found = span;
  REQUIRE(found);
  return *found;
}

}  // namespace disk_test

using namespace disk_test;

// 40 of 80 B stay on the host: blocks 2 and 3, which come back first. F_i end at 10, 20, 30 and 40, when
// their stores are issued: [10, 22), [22, 30), [30, 42), [42, 50) and so on to 90. Those of blocks 0 and 1
// are followed by writes, [22, 34), [34, 42), [42, 54), [54, 62).
//
// The steps that need restores begin at B_3 = 102, B_2 = 122, B_1 = 142 and B_0 = 162. With prefetch 1 the
// read for block 1 is issued two needs ahead, at B_3's begin: [102, 114), [114, 122), and its restore at
// B_2's begin. All is back in time, so that the step takes the 186 of a host that keeps everything.
//
// On the host are 20 at 10, 40 at 20, 60 at 30; block 0's first 12 B are gone at 34, so that block 3 makes it
// 68 at 40. On the disk are 20 at 10 and 40 from 20 to 114.
TEST_CASE("what is offloaded over the host's share goes on to the disk") {
  const Simulated result = simulate(example_profile(), offload_over(40), machine_with_disk());
  REQUIRE(result.run().step == Nanos{186});
  REQUIRE(result.run().peaks.device == Bytes{212});
  REQUIRE(result.run().peaks.host_activation == Bytes{68});
  REQUIRE(result.run().peaks.disk == Bytes{40});
  REQUIRE(at(span_on(Lane::disk_write, result.timeline, 1, 1), 54, 62));
  REQUIRE(at(span_on(Lane::disk_read, result.timeline, 1, 0), 102, 114));
  REQUIRE(at(span_on(Lane::h2d, result.timeline, 1, 0), 122, 134));
  REQUIRE(result.timeline.memory.disk ==
          std::vector<MemorySample>{
              {{10}, {20}}, {{20}, {40}}, {{114}, {28}}, {{122}, {20}}, {{134}, {8}}, {{142}, {0}}});
  REQUIRE(result.timeline.counters.at("bytes_disk_read") == 40);
  REQUIRE(result.timeline.counters.at("bytes_disk_write") == 40);
}

TEST_CASE("a disk that nothing goes to changes nothing") {
  const Simulated without = simulate(example_profile(), settings_of(Policy::offload), plain_machine());
  REQUIRE(simulate(example_profile(), settings_of(Policy::offload), machine_with_disk()).timeline ==
          without.timeline);
  REQUIRE(simulate(example_profile(), offload_over(80), machine_with_disk()).timeline == without.timeline);
  REQUIRE(without.timeline.counters.count("bytes_disk_read") == 0);
}

// Four nanoseconds a byte. Writes: [22, 70), [70, 102), [102, 150), [150, 182). The read for block 1 waits
// for its write: [150, 198), [198, 230), and is restored [198, 210), [230, 238). B_2 ends at 142, B_1 begins
// at 238. Then block 0 is read, [230, 278), [278, 310), and restored [278, 290), [310, 318); B_0 may begin at
// 258 and does at 318. Its end is 338, and the step's 342.
//
// B_1 waits for the disk 142..198 and 210..230, B_0 258..278 and 290..310: 56 + 20 + 20 + 20. For restores 12
// + 8 each, and 20 before B_3, which had waited 36 for its own stores before.
TEST_CASE("waiting for a slow disk is told apart") {
  const Run run = simulate(example_profile(), offload_over(40), machine_with_disk(4)).run();
  REQUIRE(run.step == Nanos{342});
  REQUIRE(stalled(run, StallCause::disk) == Nanos{116});
  REQUIRE(stalled(run, StallCause::restore) == Nanos{60});
  REQUIRE(stalled(run, StallCause::store) == Nanos{36});
}

// Latency is paid by what does not follow back to back: the first write, at 22, and the second, at 42 + 5,
// for the lane is idle from 42 on... but with 5 ns more [22, 39), [39, 47), [47, 59), [59, 67) none is.
TEST_CASE("a deep queue pays its latency once") {
  Machine machine = machine_with_disk();
  machine.disk->write.latency = {5};
  const Timeline timeline = simulate(example_profile(), offload_over(40), machine).timeline;
  REQUIRE(at(span_on(Lane::disk_write, timeline, 0, 0), 22, 39));
  REQUIRE(at(span_on(Lane::disk_write, timeline, 0, 1), 39, 47));
  REQUIRE(at(span_on(Lane::disk_write, timeline, 1, 0), 47, 59));
}

// 20 B are on the disk when block 1's writes are issued at 20: 12 of them fit into the 19 left, 8 more do
// not.
TEST_CASE("a full disk is its own shortage") {
  Machine machine = machine_with_disk();
  machine.disk->capacity = {39};
  const BlockTable table(example_profile());
  const Program program = compile(table, expand(table, offload_over(40)).plan);
  const Outcome outcome = simulate(program, machine).outcome;
  const OutOfMemory& shortage = std::get<OutOfMemory>(outcome.verdict);
  REQUIRE(shortage.space == MemorySpace::disk);
  REQUIRE(program.steps[shortage.step].lane == Lane::disk_write);
  REQUIRE(program.steps[shortage.step].block == 1);
  REQUIRE(program.steps[shortage.step].storage == 1);
  REQUIRE(shortage.at == Nanos{20});
  REQUIRE(shortage.needed == Bytes{20});
  REQUIRE(shortage.free == Bytes{19});
  REQUIRE(outcome.run.peaks.disk == Bytes{40});  // the least that would do
  machine.disk->capacity = {40};
  REQUIRE(std::holds_alternative<Ran>(simulate(program, machine).outcome.verdict));
}

// The host has 70 B: the 80 of all blocks are too many, the 68 with a disk are not.
TEST_CASE("a disk makes room on a small host") {
  Machine machine = machine_with_disk();
  machine.host.memory = machine.host.pinned_limit = {70};
  const auto verdict = [&](const Settings& settings) {
    return simulate(example_profile(), settings, machine).outcome.verdict;
  };
  REQUIRE(std::get<OutOfMemory>(verdict(settings_of(Policy::offload))).space == MemorySpace::host);
  REQUIRE(std::holds_alternative<Ran>(verdict(offload_over(40))));
}

TEST_CASE("a plan with a disk needs a machine with one") {
  const BlockTable table(example_profile());
  const Program program = compile(table, expand(table, offload_over(0)).plan);
  REQUIRE_THROWS_AS(Engine(plain_machine()).simulate(program), InputError);
}

// Two bytes of gradients each for four blocks, 40 B of states on the disk, 10 a block; each update takes 1
// ns. B_0 runs [106, 126). From its begin on two blocks' states are read, [106, 116), [116, 126), and the
// first is loaded [116, 126). O_0 takes [126, 127); at its begin the next load, [126, 136), and the third
// read, [126, 136), are issued, so that O_1 takes [136, 137), O_2 [146, 147) and O_3 [156, 157). The last
// states are stored [157, 167) and written [167, 177).
//
// On the host there are two buckets from 106 on; at 137 the one for O_1's store makes it 40 B: block 2's and
// block 3's reads, and the stores of O_0, which has ended but is being written, and of O_1.
TEST_CASE("optimizer states on the disk stream through the host") {
  Profile profile = example_profile();
  profile.fixed.optimizer_state = {40};
  Settings settings;
  settings.step.optimizer = OptimizerPlace::disk;
  const Simulated result = simulate(profile, settings, machine_with_disk());
  REQUIRE(result.run().step == Nanos{177});
  REQUIRE(stalled(result.run(), StallCause::restore) == Nanos{27});  // [127, 136), [137, 146), [147, 156)
  REQUIRE(stalled(result.run(), StallCause::drain) == Nanos{20});
  REQUIRE(result.run().peaks.host == Bytes{40});
  REQUIRE(result.run().peaks.host_activation == Bytes{});
  REQUIRE(result.run().peaks.disk == Bytes{40});
}

// Block 0's first bucket, of 12 B, is given back at 34 and serves block 3's store, which is issued at 40.
TEST_CASE("buckets on the way to the disk are used again") {
  const Simulated result = simulate(example_profile(), offload_over(0), machine_with_disk());
  const auto& counters = result.timeline.counters;
  REQUIRE(counters.at("pinned_accesses") == 16);  // eight stores, eight reads
  REQUIRE(counters.at("pinned_reuses") > 0);
  REQUIRE(counters.at("pinned_releases") == 16);
}

TEST_CASE("verify finds what is wrong with a disk's spans") {
  const Machine machine = machine_with_disk(4);
  const BlockTable table(example_profile());
  const Program program = compile(table, expand(table, offload_over(40)).plan);
  const Timeline sound = simulate(program, machine).timeline;
  REQUIRE(verify(sound, program, machine, {{}, {}, Bytes{40}}).empty());
  REQUIRE(!verify(sound, program, machine, {{}, {}, Bytes{39}}).empty());
  for (std::size_t i = 0; i < sound.spans.size(); ++i) {
    if (!of_disk(sound.spans[i].lane)) continue;
    Timeline faulty = sound;
    faulty.spans[i].end -= Nanos{1};
    REQUIRE(!verify(faulty, program, machine, {}).empty());
  }
  for (Stall stall : sound.stalls) {
    Timeline faulty = sound;
    for (Stall& other : faulty.stalls)
      if (other == stall)
        other.cause = stall.cause == StallCause::disk ? StallCause::store : StallCause::disk;
    REQUIRE(!verify(faulty, program, machine, {}).empty());
  }
  Timeline flat = sound;
  flat.memory.disk.pop_back();
  REQUIRE(!verify(flat, program, machine, {}).empty());
}

TEST_CASE("a disk's lanes and curve go into files and traces") {
  const Timeline with = simulate(example_profile(), offload_over(40), machine_with_disk()).timeline;
  REQUIRE(parse_timeline(to_json(with)) == with);
  const std::string trace = to_chrome_trace({with});
  for (const char* word : {"\"disk_read\"", "\"disk_write\"", "\"disk bytes\""})
    REQUIRE(trace.find(word) != std::string::npos);
  const Timeline without =
      simulate(example_profile(), settings_of(Policy::offload), machine_with_disk()).timeline;
  REQUIRE(to_chrome_trace({without}).find("disk") == std::string::npos);
  REQUIRE(to_json(without).find("disk") == std::string::npos);
}

// What SSDTrain reports: half of the activation peak gone, at no cost, as long as the disk keeps up with
// compute. 16 blocks of 0.4 s forward and 0.8 s backward save 1.2 GB each; a link of 20 GB/s takes 60 ms, a
// disk of 5 GB/s written at 3.2: 375 ms, within a forward, and 240 ms to read. So with nothing kept on the
// host no step waits but B_15, whose tensors have just gone out: stored 60 ms, written 375 and read 240 and
// restored 60.
TEST_CASE("a disk that keeps up with compute costs no more than the turn") {
  constexpr std::int64_t ms = 1'000'000, mb = 1'000'000;
  Profile profile = example_profile(16);
  profile.blocks[0].times.forward = {400 * ms};
  profile.blocks[0].times.backward = {800 * ms};
  profile.blocks[0].saved = {{"all", {1200 * mb}, Scope::other, {}, {}}};
  profile.fixed.epilogue = {};
  Machine machine = machine_with_disk();
  machine.links.h2d.rate = machine.links.d2h.rate = {20'000 * mb};
  machine.disk = Disk{{20'000 * mb}, {{5'000 * mb}, {}}, {{3'200 * mb}, {}}};
  const Simulated result = simulate(profile, offload_over(0), machine);
  REQUIRE(result.run().stall() == Nanos{(60 + 375 + 240 + 60) * ms});
  REQUIRE(result.run().peaks.disk == Bytes{16 * 1200 * mb});
  // When the forward pass ends, block 14 is still being written and block 15 stored, and there are buckets
  // for reading both back.
  REQUIRE(result.run().peaks.host_activation == Bytes{4 * 1200 * mb});
}
