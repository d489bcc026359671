// Plans that may not pin all their host buffers, carried out and predicted: the same copies are pageable, the
// same counters come out, and the same bits are computed.
#include <algorithm>

#include "runtime/host_device.h"
#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/runtime/small_transformer.h"

using namespace stowage;

namespace {

Settings offload(std::optional<std::int64_t> max_buckets, std::optional<Bytes> pinned_max) {
  Settings settings;
  settings.policy = Policy::offload;
  settings.transfer.max_buckets = max_buckets;
  settings.transfer.pinned_max = pinned_max;
  return settings;
}

Settings swapped(Settings settings) {
  settings.swap = {2, SwapWhich::spread, SwapMode::two_way};
  return settings;
}

std::vector<Settings> short_of_pinned_memory() {
  std::vector<Settings> all;
  for (std::int64_t buckets : {0, 1, 2}) all.push_back(offload(buckets, {}));
  all.push_back(offload({}, Bytes{40'000}));
  all.push_back(offload(2, Bytes{60'000}));
  all.push_back(swapped(offload(1, {})));
  all.push_back(offload({}, {}));
  all.back().policy = Policy::recompute_offload;
  all.back().transfer.pinned_max = Bytes{10'000};
  return all;
}

Machine machine_with(PinnedRounding rounding) {
  Machine machine = test_machine();
  machine.host.pinned_rounding = rounding;
  machine.host.pinning = {{20'000}, Rate{4'000'000'000}};
  machine.links.pageable = {500'000'000};
  machine.links.duplex = 0.6;
  machine.links.compute_slowdown = 0.1;
  return machine;
}

// Which copies were pageable, whenever they were.
std::vector<std::string> pageable_of(const Timeline& timeline) {
  std::vector<std::string> copies;
  for (const Span& span : timeline.spans)
    if (span.pageable)
      copies.push_back(std::string(name_of(span.kind)) + " " + std::to_string(*span.block) + "." +
                       std::to_string(span.storage.value_or(0)));
  std::sort(copies.begin(), copies.end());
  return copies;
}

std::map<std::string, std::int64_t> pool_counters(const Timeline& timeline) {
  std::map<std::string, std::int64_t> counters;
  for (const auto& [name, value] : timeline.counters)
    if (name.starts_with("pinned_") || name == "pageable_copies") counters.emplace(name, value);
  return counters;
}

// Three steps, of which the later ones find the pool as the first has left it.
void compare(const Settings& settings, const Machine& machine, HostDevice& device, const Training& plain) {
  const Program program = program_of(small_profile(false, device), settings);
  device.host_memory().start_anew();
  Engine engine(machine);
  PinnedBuckets books(machine.host.pinned_rounding);
  const auto see = [&](const StepReport& report) {
    const PinnedReport before = books.report();
    Timeline predicted;
    engine.simulate(program, books, predicted);
    REQUIRE(report.pool == books.report());
    REQUIRE(pool_counters(report.timeline) == pool_counters(predicted));
    REQUIRE(pageable_of(report.timeline) == pageable_of(predicted));
    REQUIRE(verify(report.timeline, program, machine, {}, &before) == std::vector<std::string>{});
  };
  const Training planned = train(small_transformer(false), small_batch, 3, device, {program}, see);
  REQUIRE(difference(plain, planned) == "");
}

}  // namespace

TEST_CASE("the live pool does what the simulated one does, and plans compute the same bits under it") {
  for (PinnedRounding rounding : {PinnedRounding::exact, PinnedRounding::pow2, PinnedRounding::slab}) {
    const Machine machine = machine_with(rounding);
    HostDevice device(machine);
    const Training plain = train_plainly(small_transformer(false), small_batch, 3);
    for (const Settings& settings : short_of_pinned_memory()) {
      INFO(describe(settings));
      compare(settings, machine, device, plain);
    }
  }
}

TEST_CASE("caps make copies pageable") {
  HostDevice device(test_machine());
  const Profile profile = small_profile(false, device);
  std::int64_t pageable = 0;
  const auto see = [&](const StepReport& report) {
    pageable = report.timeline.counters.at("pageable_copies");
  };
  const Program program = program_of(profile, offload(0, {}));
  train(small_transformer(false), small_batch, 1, device, {program}, see);
  const auto copies = program.lane(Lane::h2d).size() + program.lane(Lane::d2h).size();
  REQUIRE(copies > 0);
  REQUIRE(pageable == static_cast<std::int64_t>(copies));
}
