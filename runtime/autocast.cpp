#include "runtime/autocast.h"

#include <ATen/autocast_mode.h>

#include <algorithm>

namespace stowage {
namespace {

constexpr std::array autocast_devices{at::kCPU, at::kCUDA};

}  // namespace

AutocastState AutocastState::now() {
  AutocastState state;
  std::transform(autocast_devices.begin(), autocast_devices.end(), state.choices_.begin(), [](auto device) {
    return Choice{at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device)};
  });
  return state;
}

void AutocastState::put_back() const {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    at::autocast::set_autocast_enabled(autocast_devices[i], choices_[i].enabled);
    at::autocast::set_autocast_dtype(autocast_devices[i], choices_[i].type);
  }
}

void forget_casts() {
  for (auto device : autocast_devices)
    if (at::autocast::is_autocast_enabled(device)) return at::autocast::clear_cache();
}

}  // namespace stowage
