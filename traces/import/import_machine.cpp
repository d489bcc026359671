#include "traces/import/import_machine.h"

#include <algorithm>

namespace stowage {
namespace {

using Fits = std::map<CopyKind, CopyFit>;

// The device that the recording's copies name; where none does, any if all are alike.
const TracedDevice* device_of(const ImportReport& report) {
  const std::vector<TracedDevice>& devices = report.devices;
  if (report.copies && !report.copies->traffic.empty()) {
    const std::int64_t used = report.copies->traffic.front().stream.process;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const TracedDevice& device) { return device.id == used; });
    if (found != devices.end()) return &*found;
  }
  const bool alike = std::all_of(devices.begin(), devices.end(), [&](const TracedDevice& device) {
    return device.name == devices.front().name && device.memory == devices.front().memory;
  });
  return devices.empty() || !alike ? nullptr : &devices.front();
}

const char* words(CopyDirection direction) {
  return direction == CopyDirection::h2d ? "to the device" : "to the host";
}

std::optional<Link> link_of(const Fits& fits, CopyDirection direction,
                            std::vector<std::string>& assumptions) {
  for (const HostSide host : {HostSide::pinned, HostSide::unknown, HostSide::managed, HostSide::pageable}) {
    const auto found = fits.find({direction, host});
    if (found == fits.end()) continue;
    if (host == HostSide::pageable)
      assumptions.push_back("pinned copies " + std::string(words(direction)) +
                            " go as fast as pageable ones, the only ones recorded; they go faster");
    return Link{found->second.rate, found->second.latency};
  }
  return std::nullopt;
}

std::optional<Links> links_of(const Fits& fits, std::vector<std::string>& assumptions) {
  const std::optional<Link> h2d = link_of(fits, CopyDirection::h2d, assumptions),
                            d2h = link_of(fits, CopyDirection::d2h, assumptions);
  if (!h2d && !d2h) return std::nullopt;
  if (!h2d || !d2h)
    assumptions.push_back("copies " + std::string(words(h2d ? CopyDirection::d2h : CopyDirection::h2d)) +
                          " go as fast as the other way");
  Links links{.h2d = h2d ? *h2d : *d2h, .d2h = d2h ? *d2h : *h2d, .pageable = {}};
  std::optional<Rate> pageable;
  for (const auto& [kind, fit] : fits) {
    if (kind.host == HostSide::pageable) pageable = std::max(pageable.value_or(Rate{}), fit.rate);
  }
  if (!pageable) assumptions.push_back("pageable copies go at a third of the rate to the device");
  links.pageable = pageable.value_or(Rate{std::max<std::int64_t>(1, links.h2d.rate.bytes_per_second / 3)});
  assumptions.push_back("copies slow neither each other nor compute");
  return links;
}

}  // namespace

RecordedMachine machine_of(const ImportReport& report) {
  RecordedMachine machine;
  if (const TracedDevice* device = device_of(report)) {
    machine.device = device->name;
    if (device->memory.value > 0) machine.device_memory = device->memory;
  }
  if (report.copies) machine.links = links_of(report.copies->links, machine.assumptions);
  return machine;
}

}  // namespace stowage
