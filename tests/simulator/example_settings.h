// Settings of the worked example's table, in few words.
#pragma once

#include <cstdint>

#include "plan/settings.h"

namespace stowage::tests {

inline Settings settings_of(Policy policy, std::int64_t interval = 1, std::int64_t prefetch = 1) {
  Settings settings;
  settings.policy = policy;
  settings.interval = interval;
  settings.transfer.prefetch = prefetch;
  return settings;
}

}  // namespace stowage::tests
