#include "tests/runtime/device_conformance.h"

#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/runtime/small_transformer.h"

namespace stowage {

void require_conformance(const Candidate& candidate, bool lora, const std::vector<Settings>& all) {
  const Profile profile = small_profile(lora, candidate.device, candidate.place);
  const MakeChain chain = small_transformer(lora, candidate.place);
  const MakeBatch batch = small_batches(candidate.place);
  const Training plain = train_plainly(chain, batch, 3);
  for (const Settings& settings : all) {
    INFO(describe(settings));
    const Program program = program_of(profile, settings);
    const auto see = [&](const StepReport& report) {
      REQUIRE(verify(report.timeline, program, candidate.machine, {}) == std::vector<std::string>{});
    };
    const Training planned = train(chain, batch, 3, candidate.device, {program}, see);
    REQUIRE(difference(plain, planned) == "");
  }
}

}  // namespace stowage
