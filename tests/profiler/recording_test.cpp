// The same training, measured by our own probe and recorded by PyTorch's profiler.
#include "profiler/block_probe.h"
#include "profiler/host_machine.h"
#include "tests/catch.h"
#include "tests/profiler/recorded_training.h"
#include "traces/import/import_profile.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Four blocks; 8 sequences of 32 bytes.
const TransformerConfig recorded_model{4, 16, 2, 32, 8, 4, 0.1, {}};

Profile recorded(const Profile& profile, const TransformerConfig& config, HostDevice& device) {
  int carried_out = 0;
  const ImportReport report =
      recorded_training(config, profile, device, 3, [&](const StepReport&) { ++carried_out; });
  REQUIRE(carried_out == 3);
  REQUIRE(report.clean());
  REQUIRE(report.steps.size() == 3);
  REQUIRE(report.found.how == FoundBy::annotations);
  return profile_of(report, profile.name);
}

void require_equal_bytes(const Profile& own, const Profile& imported) {
  REQUIRE(imported.blocks.size() == own.blocks.size());
  Bytes resident = own.fixed.resident + own.fixed.optimizer_state;
  for (std::size_t i = 0; i < own.blocks.size(); ++i) {
    CAPTURE(i);
    const BlockProfile &a = own.blocks[i], &b = imported.blocks[i];
    REQUIRE(b.name == a.name);
    REQUIRE(saved_bytes(b) == saved_bytes(a));
    REQUIRE(b.sizes.input == a.sizes.input);
    REQUIRE(b.sizes.gradient == a.sizes.gradient);
    REQUIRE(b.sizes.forward_workspace == a.sizes.forward_workspace);
    REQUIRE(b.sizes.backward_workspace == a.sizes.backward_workspace);
    REQUIRE(b.times.forward > Nanos{});
    REQUIRE(b.times.backward > Nanos{});
    resident += a.sizes.weight;
  }
  REQUIRE(imported.fixed.resident == resident);  // no recording tells weights from what else is always there
  REQUIRE(imported.fixed.output == own.fixed.output);
  REQUIRE(imported.fixed.epilogue_bytes == own.fixed.epilogue_bytes);
}

}  // namespace

TEST_CASE("a recording of a training gives the bytes that its profile has") {
  for (const bool adapted : {false, true}) {
    CAPTURE(adapted);
    TransformerConfig config = recorded_model;
    if (adapted) config.lora = LoraConfig{2, 4};
    HostDevice device(host_machine(Bytes{1 << 28}));
    Profile own;
    {
      Transformer model(config, 1);
      const State batch = tokens_of(config);
      own = probe_blocks({name_of(config), model, batch}, device, {1, 2, [](std::int64_t, std::int64_t) {}})
                .profile;
    }
    require_equal_bytes(own, recorded(own, config, device));
  }
}
