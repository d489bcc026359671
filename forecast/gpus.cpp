#include "forecast/gpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "traces/file.h"
#include "traces/json.h"

namespace stowage {
namespace {

constexpr double mib = 1 << 20, gib = 1 << 30, tera = 1e12, giga = 1e9;

// What pinned copies reach of 16 lanes, one direction at a time. Third generation: 12.3 GB/s, as
// bandwidthTest shows on V100 and T4; fourth: 25 to 28.8 GB/s on an A100 and an RTX 5090; fifth: 55.4 GB/s on
// an H100.
Rate link_rate(std::int64_t generation, std::int64_t lanes) {
  constexpr std::array<double, 4> of_sixteen{12.3e9, 26e9, 55e9, 110e9};
  const double all = of_sixteen[static_cast<std::size_t>(std::clamp<std::int64_t>(generation, 3, 6) - 3)];
  return Rate{static_cast<std::int64_t>(all * static_cast<double>(lanes) / 16)};
}

Bytes bytes_from(double value) {
  return Bytes{static_cast<std::int64_t>(value)};
}

// Letters and digits, small.
std::string plain(const std::string& name) {
  std::string word;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

Gpu gpu_from(const JsonNode& node) {
  node.allow({"gpu", "id", "memory_mib", "half_tflops", "bandwidth_gb_per_second", "pcie", "lanes",
              "usual_host_gib", "cards", "matrix_workspace_kib"});
  Gpu gpu;
  gpu.name = node.at("gpu").string();
  gpu.id = node.at("id").string();
  gpu.memory = bytes_from(static_cast<double>(node.at("memory_mib").integer(256, 1 << 24)) * mib);
  gpu.half_flops = node.at("half_tflops").number(0.1, 1e5) * tera;
  gpu.bandwidth = Rate{static_cast<std::int64_t>(node.at("bandwidth_gb_per_second").number(1, 1e5) * giga)};
  gpu.pcie = node.at("pcie").integer(3, 6);
  constexpr std::int64_t usual_workspace_kib = 8320, most_workspace_kib = 1 << 20;
  const auto workspace = node.find("matrix_workspace_kib");
  gpu.matrix_workspace =
      Bytes{1024 * (workspace ? workspace->integer(0, most_workspace_kib) : usual_workspace_kib)};
  if (const auto lanes = node.find("lanes")) gpu.lanes = lanes->integer(1, 32);
  if (const auto cards = node.find("cards")) gpu.cards = cards->integer(1, 64);
  gpu.usual_host = bytes_from(static_cast<double>(node.at("usual_host_gib").integer(1, 1 << 16)) * gib);
  return gpu;
}

}  // namespace

Machine machine_of(const Gpu& gpu, Platform platform, std::optional<Bytes> host) {
  constexpr double context = 0.5 * gib, wsl_loss = 0.48 * gib, windows_context = 1.7 * gib;
  constexpr double wsl_pinned = 0.75 * gib;
  Machine machine;
  machine.name = gpu.name;
  machine.device.memory = gpu.memory;
  machine.host.memory = host.value_or(Bytes{gpu.usual_host.value / gpu.cards});
  machine.host.pinned_limit = machine.host.memory;
  machine.host.pinned_rounding = PinnedRounding::pow2;
  machine.device.reserved = bytes_from(context);
  if (platform == Platform::wsl2) {
    machine.device.reserved = bytes_from(context + wsl_loss);
    machine.host.pinned_limit = std::min(machine.host.memory, bytes_from(wsl_pinned));
  }
  if (platform == Platform::windows) {
    machine.device.reserved = bytes_from(windows_context);
    machine.host.pinned_limit = Bytes{machine.host.memory.value / 2};
    machine.host.device_margin = bytes_from(64 * mib);
  }
  const Rate rate = link_rate(gpu.pcie, gpu.lanes);
  machine.links.h2d.rate = machine.links.d2h.rate = rate;
  machine.links.h2d.latency = machine.links.d2h.latency = Nanos{10'000};
  machine.links.pageable = Rate{rate.bytes_per_second / 3};
  return machine;
}

const Gpu* find_gpu(const std::vector<Gpu>& gpus, const std::string& name) {
  const std::string wanted = plain(name);
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
    return plain(gpu.name) == wanted || plain(gpu.id) == wanted;
  });
  return found == gpus.end() ? nullptr : &*found;
}

std::vector<Gpu> parse_gpus(const std::string& text) {
  const JsonNode root = JsonNode::parse(text);
  root.expect_format("stowage.gpus", 1);
  root.allow({"format", "version", "source", "gpus"});
  root.at("source").string();
  std::vector<Gpu> gpus;
  for (const JsonNode& item : root.at("gpus").items()) {
    Gpu gpu = gpu_from(item);
    if (find_gpu(gpus, gpu.name) != nullptr || find_gpu(gpus, gpu.id) != nullptr)
      item.at("gpu").refuse("each GPU once");
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<Gpu> read_gpus(const std::string& file) {
  return parse_file(file, parse_gpus);
}

}  // namespace stowage
