#include "tests/fuzz/attempt.h"
#include "traces/profile.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return survives(bytes, size, parse_profile, [](const Profile& profile) { return to_json(profile); });
}
