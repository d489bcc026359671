#include "runtime/executor.h"

#include <ATen/ATen.h>

#include "runtime/host_device.h"
#include "runtime/models/transformer.h"
#include "tests/catch.h"
#include "tests/runtime/trainer.h"

using namespace stowage;

namespace {

TransformerConfig small(bool lora) {
  TransformerConfig config;
  config.layers = 5;
  config.width = 32;
  config.heads = 2;
  config.context = 16;
  config.batch = 2;
  config.ffn_multiple = 2;
  if (lora) config.lora = LoraConfig{4, 8};
  return config;
}

State batch(int step) {
  const at::Tensor text = (at::arange(34, at::kLong) * (step + 3)).remainder(256);
  return {text.narrow(0, 0, 32).view({2, 16}), text.narrow(0, 1, 32).view({2, 16})};
}

MakeChain transformer(bool lora) {
  return [lora] { return std::make_unique<Transformer>(small(lora), 1); };
}

}  // namespace

TEST_CASE("a kept step equals a plain one") {
  HostDevice device(test_machine());
  for (bool lora : {false, true}) {
    const Training plain = train_plainly(transformer(lora), batch, 3, device);
    const Training kept = train(transformer(lora), batch, 3, device, {program_of(bare_profile(5), {})});
    REQUIRE(difference(plain, kept) == "");
  }
}
