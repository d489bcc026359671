#include "plan/plan.h"
#include "tests/fuzz/attempt.h"
#include "tests/fuzz/two_blocks.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Profile profile = two_blocks();
  return survives(
      bytes, size, [](const std::string& text) { return parse_plan(text, profile); },
      [](const Plan& plan) { return to_json(plan, profile); });
}
