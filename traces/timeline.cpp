#include "traces/timeline.h"

#include <algorithm>

#include "traces/timeline_names.h"

namespace stowage {

const char* name_of(Lane lane) {
  return lane_names[static_cast<int>(lane)].data();
}
const char* name_of(StepKind kind) {
  return step_names[static_cast<int>(kind)].data();
}
const char* name_of(StallCause cause) {
  return stall_names[static_cast<int>(cause)].data();
}

Bytes peak(const std::vector<MemorySample>& curve) {
  Bytes highest;
  for (const MemorySample& sample : curve) highest = std::max(highest, sample.bytes);
  return highest;
}

}  // namespace stowage
