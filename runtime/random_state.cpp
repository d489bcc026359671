#include "runtime/random_state.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace stowage {
namespace {

at::CPUGeneratorImpl& generator() {
  return *at::detail::getDefaultCPUGenerator().get<at::CPUGeneratorImpl>();
}

std::vector<at::Generator>& device_generators() {
  static std::vector<at::Generator> all;
  return all;
}

}  // namespace

RandomState RandomState::now() {
  RandomState state;
  for (at::Generator& device : device_generators()) {
    const std::lock_guard lock(device.mutex());
    state.of_devices_.push_back(device.get_state());
  }
  at::CPUGeneratorImpl& from = generator();
  const std::lock_guard lock(from.mutex_);
  state.engine_ = from.engine();
  state.next_float_ = from.next_float_normal_sample();
  state.next_double_ = from.next_double_normal_sample();
  return state;
}

void RandomState::put_back() const {
  for (std::size_t i = 0; i < of_devices_.size(); ++i) {
    at::Generator& device = device_generators().at(i);
    const std::lock_guard lock(device.mutex());
    device.set_state(of_devices_[i]);
  }
  at::CPUGeneratorImpl& to = generator();
  const std::lock_guard lock(to.mutex_);
  to.set_engine(engine_);
  to.set_next_float_normal_sample(next_float_);
  to.set_next_double_normal_sample(next_double_);
}

DeviceGenerator::DeviceGenerator(at::Generator generator) : generator_(std::move(generator)) {
  device_generators().push_back(generator_);
}

DeviceGenerator::~DeviceGenerator() {
  std::vector<at::Generator>& all = device_generators();
  all.erase(std::find(all.begin(), all.end(), generator_));
}

}  // namespace stowage
