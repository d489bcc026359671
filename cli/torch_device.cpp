#include "cli/torch_device.h"

#include <ATen/ATen.h>

#include "profiler/host_machine.h"
#include "runtime/host_device.h"
#include "runtime/host_pressure.h"
#include "runtime/pinned_limit.h"
#include "traces/error.h"
#ifdef STOWAGE_WITH_CUDA
#include "runtime/cuda_device.h"
#endif

namespace stowage {
namespace {

std::optional<std::string> why_not_cuda() {
#ifdef STOWAGE_WITH_CUDA
  return why_no_cuda();
#else
  return "no CUDA device that this build can use: it was made without CUDA";
#endif
}

std::unique_ptr<Device> device_at(Place place, const Machine& machine) {
#ifdef STOWAGE_WITH_CUDA
  if (place == Place::cuda) return std::make_unique<CudaDevice>(machine);
#endif
  if (place == Place::cuda) throw SystemError("--device cuda", *why_not_cuda());
  return std::make_unique<HostDevice>(machine);
}

}  // namespace

Place place_named(const std::string& text) {
  if (text == "host") return Place::host;
  if (text != "cuda") throw InputError("--device", "", "expected host or cuda, not \"" + text + "\"");
  if (const auto why = why_not_cuda())
    throw InputError("--device", "", "there is " + *why + "; expected host");
  return Place::cuda;
}

Machine machine_at(Place place) {
#ifdef STOWAGE_WITH_CUDA
  if (place == Place::cuda) return cuda_machine();
#endif
  if (place == Place::cuda) throw SystemError("--device cuda", *why_not_cuda());
  Machine machine = host_machine({});
  machine.device.memory = machine.host.memory;
  return machine;
}

ChosenDevice::ChosenDevice(Place place, const Machine& machine)
    : place_(place), device_(device_at(place, machine)) {}

ChosenDevice::~ChosenDevice() = default;

c10::Device ChosenDevice::place() const {
  return {place_ == Place::cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU};
}

State ChosenDevice::bring(const State& batch) const {
  State here;
  for (const at::Tensor& tensor : batch) here.push_back(tensor.to(place()));
  return here;
}

void ChosenDevice::set_budget(std::optional<Bytes> budget) {
#ifdef STOWAGE_WITH_CUDA
  if (auto* const cuda = dynamic_cast<CudaDevice*>(device_.get())) return cuda->memory().set_budget(budget);
#endif
  Arena::instance().set_budget(budget);
}

std::optional<Bytes> ChosenDevice::probe_pinned_limit([[maybe_unused]] Bytes most) const {
#ifdef STOWAGE_WITH_CUDA
  if (place_ == Place::cuda) return stowage::probe_pinned_limit(watched(cuda_pinned_memory()), most);
#endif
  return {};
}

}  // namespace stowage
