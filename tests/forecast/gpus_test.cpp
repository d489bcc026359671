// The catalogue of GPUs, and machines made of it.
#include "forecast/gpus.h"

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/traces/refusal.h"

using namespace stowage;
using namespace stowage::tests;

namespace gpus_test {
namespace {

const std::string one = R"({"format": "stowage.gpus", "version": 1, "source": "here", "gpus": [
  {"gpu": "RTX 4090", "id": "rtx4090", "memory_mib": 24564, "half_tflops": 165.2,
   "bandwidth_gb_per_second": 1008, "pcie": 4, "usual_host_gib": 64}]})";

constexpr std::int64_t gib = 1 << 30;

}  // namespace

TEST_CASE("a GPU is found by name or id") {
  const std::vector<Gpu> gpus = parse_gpus(one);
  REQUIRE(find_gpu(gpus, "rtx4090") == gpus.data());
  REQUIRE(find_gpu(gpus, "RTX 4090") == gpus.data());
  REQUIRE(find_gpu(gpus, "rtx-4090") == gpus.data());
  REQUIRE(find_gpu(gpus, "4090") == nullptr);
}

// Half of the host may be pinned under Windows, and counts on the device; little under WSL2, all under Linux.
TEST_CASE("platforms differ in what they keep and let pin") {
  const Gpu gpu = parse_gpus(one).front();
  const Machine linux = machine_of(gpu, Platform::linux), windows = machine_of(gpu, Platform::windows);
  const Machine wsl = machine_of(gpu, Platform::wsl2, Bytes{32 * gib});
  REQUIRE(linux.device.memory == Bytes{24564LL << 20});
  REQUIRE(linux.host.pinned_limit == Bytes{64 * gib});
  REQUIRE(!linux.host.device_margin);
  REQUIRE(windows.host.pinned_limit == Bytes{32 * gib});
  REQUIRE(windows.host.device_margin == Bytes{64 << 20});
  REQUIRE(windows.device.reserved > wsl.device.reserved);
  REQUIRE(wsl.device.reserved > linux.device.reserved);
  REQUIRE(wsl.host.memory == Bytes{32 * gib});
  REQUIRE(wsl.host.pinned_limit < Bytes{gib});
  REQUIRE(linux.links.h2d.rate == Rate{26'000'000'000});
}

// Eight lanes carry half; a host is shared among the cards that it usually holds.
TEST_CASE("lanes and cards share") {
  const std::string text = changed(one, "\"pcie\": 4", "\"pcie\": 4, \"lanes\": 8, \"cards\": 4");
  const Machine machine = machine_of(parse_gpus(text).front(), Platform::linux);
  REQUIRE(machine.links.d2h.rate == Rate{13'000'000'000});
  REQUIRE(machine.host.memory == Bytes{16 * gib});
}

TEST_CASE("wrong GPUs are refused with their path") {
  const auto refused = [](const std::string& from, const std::string& to) {
    return refusal(parse_gpus, changed(one, from, to));
  };
  REQUIRE(refused("24564", "0").starts_with("gpus[0].memory_mib: "));
  REQUIRE(refused("\"pcie\": 4", "\"pcie\": 2").starts_with("gpus[0].pcie: "));
  REQUIRE(refused("\"pcie\": 4", "\"pci\": 4").starts_with("gpus[0].pci: "));
  REQUIRE(refused("stowage.gpus", "stowage.cards").starts_with("format: "));
  REQUIRE(refused("}]}",
                  "}, {\"gpu\": \"rtx 4090\", \"id\": \"x\", \"memory_mib\": 24564, \"half_tflops\": 1,"
                  " \"bandwidth_gb_per_second\": 1, \"pcie\": 4, \"usual_host_gib\": 64}]}") ==
          "gpus[1].gpu: expected each GPU once");
}

TEST_CASE("the shipped catalogue holds what people train on") {
  const std::vector<Gpu> gpus = read_gpus(source_folder() + "/catalogue/gpus.json");
  for (const char* name : {"rtx3060", "rtx3090", "rtx4090", "rtx5090", "a100", "h100", "h200", "l40s",
                           "a6000", "rtx6000ada", "b200", "t4", "v100", "mi300x"})
    REQUIRE(find_gpu(gpus, name) != nullptr);
}

}  // namespace gpus_test
