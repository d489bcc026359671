// `stowage simulate`, run as a process.
#include <string>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/refusal.h"
#include "traces/journal.h"
#include "traces/timeline.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

const std::string simulate = "simulate profile.json --machine machine.json ";

struct Row {
  const char* flags;
  std::int64_t step, stall, device, activations;
};

}  // namespace

// The table of the execution model; compute is 4 * (10 + 20) + 6 + 4 = 130, and 10 more for each block that
// runs its forward again.
TEST_CASE("simulate gives the worked example, all ten rows") {
  const Workplace workplace;
  const Row rows[] = {
      {"", 130, 0, 217, 0},
      {"--policy recompute", 170, 0, 157, 0},
      {"--policy recompute --interval 2", 170, 0, 175, 0},
      {"--policy recompute --interval 1 --stride 2", 150, 0, 177, 0},
      {"--policy offload --prefetch 1", 186, 56, 212, 80},
      {"--policy offload --prefetch 0", 246, 116, 198, 80},
      {"--policy offload --scope attention --prefetch 2", 154, 24, 212, 48},
      {"--policy recompute+offload --interval 2 --prefetch 1", 170, 0, 175, 4},
      {"--swap-blocks 3 --swap-which last --prefetch 1", 130, 0, 212, 0},
      {"--policy recompute --swap-blocks 3 --swap-mode two-way", 170, 0, 154, 0},
  };
  for (const Row& row : rows) {
    INFO(row.flags);
    const Ended ended = workplace.stowage(simulate + "--json " + row.flags);
    REQUIRE(ended.code == 0);
    REQUIRE(ended.err == "");
    const JsonNode answer = ended.json();
    REQUIRE(answer.at("outcome").string() == "ran");
    REQUIRE(figure(answer, "step_ns") == row.step);
    REQUIRE(figure(answer, "stall_ns") == row.stall);
    REQUIRE(figure(answer, "compute_ns") == row.step - row.stall);
    REQUIRE(figure(answer, "peak_bytes") == row.device);
    REQUIRE(figure(answer, "peak_reserved_bytes") == row.device);
    REQUIRE(figure(answer, "host_activation_peak_bytes") == row.activations);
  }
}

TEST_CASE("stalls add up by cause") {
  const JsonNode stalls = Workplace().stowage(simulate + "--json --policy offload").json().at("stalls");
  REQUIRE(figure(stalls, "store") == 36);  // [46, 82), see the engine's own test
  REQUIRE(figure(stalls, "restore") == 20);
  REQUIRE(figure(stalls, "weights") + figure(stalls, "drain") == 0);
}

// Keeping everything peaks at 217 bytes when B_3 begins: it adds 7 to 210.
TEST_CASE("a plan that does not fit is an answer") {
  const Workplace workplace;
  REQUIRE(workplace.stowage(simulate + "--vram 217").code == 0);
  const Ended ended = workplace.stowage(simulate + "--json --vram 216");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.json().at("cause").string() == "real");  // no allocator would do
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("outcome").string() == "out_of_memory");
  REQUIRE(answer.at("space").string() == "device");
  REQUIRE(answer.at("step").string() == "backward");
  REQUIRE(figure(answer, "block") == 3);
  REQUIRE(figure(answer, "needed_bytes") == 7);
  REQUIRE(figure(answer, "free_bytes") == 6);
  REQUIRE(figure(answer, "least_bytes") == 217);
  REQUIRE(figure(answer, "peak_bytes") == 217);  // as if memory had no limit
  REQUIRE(figure(answer, "step_ns") == 130);
}

TEST_CASE("people are told in a sentence first") {
  const Workplace workplace;
  REQUIRE(
      workplace.stowage(simulate + "--vram 24GiB")
          .out.starts_with("It fits: a step takes 130 ns and at most 217 B of 24.0 GiB on the device.\n"));
  REQUIRE(
      workplace.stowage(simulate + "--vram 216")
          .out.starts_with("It does not fit: device memory runs out at the backward of block 3, which needs "
                           "7 B where 6 B are free. With 217 B of device memory it would fit, and a step "
                           "would take 130 ns.\n"));
}

// Offloading sends 4 * 20 = 80 B; the host's shortage says nothing of the device. The pinned limit counts the
// weights of each swapped block as 8 B: 3 * 8 = 24.
TEST_CASE("a host that is too small is told as such, with what would do") {
  const Workplace workplace;
  const Ended host = workplace.stowage(simulate + "--policy offload --host-ram 79");
  REQUIRE(host.code == 1);
  REQUIRE(
      host.out.starts_with("It does not fit: host memory runs out at the store of a tensor of block 3, "
                           "which needs 20 B where 19 B are free. With 80 B of host memory"));
  REQUIRE(host.out.substr(0, host.out.find('\n')).find("device") == std::string::npos);
  workplace.write("machine.json", changed(changed(workplace.read("machine.json"), "34359738368", "23"),
                                          "\"exact\"", "\"pow2\""));
  const Ended pinned = workplace.stowage(simulate + "--swap-blocks 3");
  REQUIRE(pinned.code == 1);
  REQUIRE(
      pinned.out.starts_with("It does not fit: pinned host memory runs out at the prologue, which needs 24 B "
                             "where 23 B are free. With 24 B of pinned host memory it would fit"));
  const JsonNode answer = workplace.stowage(simulate + "--json --swap-blocks 3").json();
  REQUIRE(answer.at("space").string() == "pinned");
  REQUIRE(figure(answer, "least_bytes") == 24);
}

// Offloading takes 212 B of the device and 80 that are pinned, and 10 have to be left: 302 do, 301 do not.
TEST_CASE("pinned memory that counts on the device is refused in advance, and told as such") {
  const Workplace workplace;
  workplace.write(
      "machine.json",
      changed(workplace.read("machine.json"), "\"pinned_rounding\"",
              R"("pinned_counts_on_device": true, "pinned_device_margin_bytes": 10, "pinned_rounding")"));
  const std::string offload = simulate + "--policy offload ";
  const Ended fits = workplace.stowage(offload + "--vram 302");
  REQUIRE(fits.code == 0);
  REQUIRE(
      fits.out.starts_with("It fits: a step takes 186 ns and at most 302 B of 302 B on the device, of which "
                           "90 B for pinned host memory, which counts there.\n"));
  const Ended refused = workplace.stowage(offload + "--vram 301");
  REQUIRE(refused.code == 1);
  REQUIRE(refused.out.starts_with(
      "It does not fit: pinned host memory counts against the device here, which needs 212 B itself: of the "
      "80 B that the plan pins 79 B are left. At most that may be pinned (--pinned-max 79: then activations "
      "beyond it are pageable). With 302 B of device memory it would fit, and a step would take 186 ns.\n"));
  const JsonNode answer = workplace.stowage(offload + "--json --vram 301").json();
  REQUIRE(answer.at("space").string() == "pinned");
  REQUIRE(answer.at("cause").string() == "counts_on_device");
  REQUIRE(answer.at("step").string() == "prologue");
  REQUIRE(figure(answer, "at_ns") == 0);
  REQUIRE(figure(answer, "needed_bytes") == 80);
  REQUIRE(figure(answer, "free_bytes") == 79);
  REQUIRE(figure(answer, "device_needs_bytes") == 212);
  REQUIRE(figure(answer, "least_bytes") == 302);
  REQUIRE(figure(answer, "pinned_on_device_bytes") == 90);
  REQUIRE(workplace.stowage(offload + "--vram 301 --pinned-max 79").code == 0);
}

TEST_CASE("several memories that are too small are all named") {
  const Ended ended =
      Workplace().stowage(simulate + "--policy offload --prefetch 9 --vram 200 --host-ram 79");
  REQUIRE(ended.out.find(" of device memory and 80 B of host memory it would fit") != std::string::npos);
}

// Each buffer of 12 B counts as 16: 4 * 16 + 4 * 8 = 96, and 95 may be pinned. The last store, of 8 B, goes
// to pageable memory, and comes back from it: two copies.
TEST_CASE("activations that may not be pinned run, and are told") {
  const Workplace workplace;
  workplace.write("machine.json", changed(changed(workplace.read("machine.json"), "34359738368", "95"),
                                          "\"exact\"", "\"pow2\""));
  const JsonNode answer = workplace.stowage(simulate + "--json --policy offload").json();
  REQUIRE(answer.at("outcome").string() == "ran");
  const JsonNode pool = answer.at("pinned_pool");
  REQUIRE(figure(pool, "accesses") == 8);
  REQUIRE(figure(pool, "checkouts") == 7);
  REQUIRE(figure(pool, "allocation_failures") == 1);
  REQUIRE(pool.at("buckets").items().size() == 2);
  REQUIRE(figure(answer, "host_pinned_peak_bytes") == 88);
}

// Swapping alone, both ways and far ahead: all five loads are issued at once. When F_3 begins at 30, what F_2
// used is still on its way out and what B_2 and B_1 need is there: 5 times 5 B of weights. With 102 + 3 * 22
// and the 25 of F_3 that is 218. Together with recomputation swapping saves.
TEST_CASE("a setting that takes more memory than it saves is warned of") {
  const Workplace workplace;
  const std::string swap = "--swap-blocks 3 --swap-mode two-way ";
  REQUIRE(workplace.stowage(simulate + swap + "--prefetch 9").err ==
          "warning: this plan takes 218 B on the device; keeping everything there takes 217 B\n");
  REQUIRE(workplace.stowage(simulate + swap).err == "");
  REQUIRE(workplace.stowage(simulate + swap + "--policy recompute").err == "");
}

TEST_CASE("a predicted timeline is written, for Stowage and for Perfetto") {
  const Workplace workplace;
  REQUIRE(workplace.stowage(simulate + "--policy offload -o timeline.json --chrome trace.json").code == 0);
  const Timeline timeline = read_timeline(workplace.path("timeline.json"));
  REQUIRE(timeline.name == "example");
  REQUIRE(timeline.source == "simulated");
  REQUIRE(timeline.step == Nanos{186});
  REQUIRE(JsonNode::parse(workplace.read("trace.json")).find("traceEvents").has_value());
}

// All sizes are a few bytes, so that each buffer takes 512 B of one segment of 2 MiB; in less than that
// nothing goes. The journal begins with what is there from the start: 100 B are resident.
TEST_CASE("a caching arena shows what it reserves, why it runs out, and what it was asked for") {
  const Workplace workplace;
  std::string machine = workplace.read("machine.json");
  machine.replace(machine.find("ideal"), 5, "caching");
  workplace.write("caching.json", machine);
  const std::string caching = "simulate profile.json --machine caching.json ";
  const JsonNode ran = workplace.stowage(caching + "--json --vram 2MiB --journal journal.json").json();
  REQUIRE(ran.at("outcome").string() == "ran");
  REQUIRE(figure(ran, "retries") == 0);
  REQUIRE(figure(ran, "peak_bytes") == 217);
  REQUIRE(figure(ran, "peak_reserved_bytes") == 2 << 20);
  const Journal journal = parse_journal(workplace.read("journal.json"));
  REQUIRE(journal.streams == std::vector<std::string>{"compute", "h2d", "d2h"});
  REQUIRE(journal.entries.front() == JournalEntry{{0}, 0, true, {100}, 0});
  const Ended ended = workplace.stowage(caching + "--json --vram 1MiB");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.json().at("cause").string() == "fragmentation");  // 1 MiB is free: not as a segment
  REQUIRE(figure(ended.json(), "needed_bytes") == 100);
  REQUIRE(figure(ended.json().at("arena"), "enough_bytes") == 2 << 20);
  REQUIRE(!ended.json().at("arena").at("expandable_segments_would_do").boolean());
  REQUIRE(workplace.stowage(caching + "--vram 1MiB").out.find("It is fragmentation") != std::string::npos);
}

// The worked example has no optimizer states: 100 B resident and 4 * 5 B of weights, which a staged load
// first has in host memory, too.
TEST_CASE("simulate tells the phases of a run") {
  const Workplace workplace;
  const JsonNode answer = workplace.stowage(simulate + "--json").json();
  const std::vector<JsonNode> phases = answer.at("phases").items();
  REQUIRE(phases.size() == 6);
  REQUIRE(phases[0].at("phase").string() == "load");
  REQUIRE(figure(phases[0], "peak_bytes") == 120);
  REQUIRE(figure(phases[0], "host_peak_bytes") == 120);
  REQUIRE(figure(phases[2], "peak_bytes") == 217);
  REQUIRE(answer.at("worst_phases").at("device").string() == "first_step");
  REQUIRE(answer.at("worst_phases").at("host").string() == "load");
  const JsonNode streamed = workplace.stowage(simulate + "--json --load streamed").json();
  REQUIRE(figure(streamed.at("phases").items()[0], "host_peak_bytes") == 100);
  const Ended narrow = workplace.stowage(simulate + "--host-ram 119");
  REQUIRE(narrow.code == 0);  // the step itself needs no host memory
  REQUIRE(narrow.out.find("does not fit: host") != std::string::npos);
  const Ended wrong = workplace.stowage(simulate + "--load slowly");
  REQUIRE(wrong.code == 2);
  REQUIRE(wrong.err.find("expected one of staged, streamed") != std::string::npos);
}

// As tests of the simulator have it: 40 of 80 B rest on the disk, and 68 are on the host at most.
TEST_CASE("a disk takes what the host is not to keep, or says what it lacks") {
  const Workplace workplace;
  const std::string offload = "--policy offload --disk-over 40 --json";
  const Ended refused = workplace.stowage(simulate + offload);
  REQUIRE(refused.code == 2);
  REQUIRE(refused.err.find("disk") != std::string::npos);
  const auto with_disk = [&](const std::string& capacity) {
    const std::string link = R"({"bytes_per_second": 1000000000})";
    workplace.write("disk.json", changed(workplace.read("machine.json"), "\"links\":",
                                         "\"disk\": {\"capacity_bytes\": " + capacity + ", \"read\": " +
                                             link + ", \"write\": " + link + "}, \"links\":"));
    return workplace.stowage("simulate profile.json --machine disk.json " + offload);
  };
  const JsonNode answer = with_disk("40").json();
  REQUIRE(figure(answer, "step_ns") == 186);
  REQUIRE(figure(answer, "host_peak_bytes") == 68);
  REQUIRE(figure(answer, "disk_peak_bytes") == 40);
  REQUIRE(figure(answer.at("phases").items()[2], "disk_peak_bytes") == 40);
  REQUIRE(answer.at("worst_phases").at("disk").string() == "first_step");
  const Ended full = with_disk("39");
  REQUIRE(full.code == 1);
  REQUIRE(full.json().at("space").string() == "disk");
  REQUIRE(figure(full.json(), "least_bytes") == 40);
}
