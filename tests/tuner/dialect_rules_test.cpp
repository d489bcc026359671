// OneTrainer, torchtune, torchtitan, DeepSpeed and plain PyTorch: their options, and what they make of them,
// rule by rule.
#include <string>

#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "traces/error.h"
#include "tuner/dialects/trainer.h"

using namespace stowage;

namespace {

// Eight frozen blocks of 5 B of weights, 2 B between them.
const BlockTable& eight_blocks() {
  static const BlockTable table(example_profile(8));
  return table;
}

Meaning meant(const char* name, const std::string& family, const std::string& text) {
  const Trainer& trainer = trainer_named(name);
  const ConfigFormat format = trainer.file.formats.front();
  return trainer.dialect(family)->meaning(options_in(trainer, *config_text(format, text), format),
                                          eight_blocks());
}

std::string objected(const char* name, const std::string& family, const std::string& text) {
  try {
    meant(name, family, text);
    return "";
  } catch (const InputError& error) {
    return error.path() + ": " + error.reason();
  }
}

// Recomputed blocks, "s" where a segment begins; capital where its input is away, underlined where weights
// are.
std::string drawn(const Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const BlockDecision& block = plan.blocks[i];
    const bool continues = i > 0 && block.segment && plan.blocks[i - 1].segment == block.segment;
    char letter = block.activation == Activation::keep ? '.' : continues ? 'r' : 's';
    if (block.offload_input) letter = 'S';
    text += letter;
    if (block.weights != Residence::resident) text += '_';
  }
  return text;
}

std::string rewritten(const char* name, const std::string& text, const Options& options) {
  const Trainer& trainer = trainer_named(name);
  const ConfigFormat format = trainer.file.formats.front();
  const auto config = config_text(format, text);
  write_options(trainer, *config, format, options);
  return config->text();
}

}  // namespace

// Three eighths away leave 25 of 40 B: five blocks. One more than three is away, evenly spread.
TEST_CASE("OneTrainer's fraction of layers takes turns") {
  const auto part = [](const std::string& rest) { return R"({"transformer": {"train": true)" + rest + "}}"; };
  REQUIRE(drawn(meant("onetrainer", "", part("")).plan) == "ssssssss");
  REQUIRE(drawn(meant("onetrainer", "", part(R"(, "gradient_checkpointing": false)")).plan) == "........");
  REQUIRE(drawn(meant("onetrainer", "", part(R"(, "activation_offloading": true)")).plan) == "SSSSSSSS");
  REQUIRE(drawn(meant("onetrainer", "", part(R"(, "offload_fraction": 0.375)")).plan) == "s_ss_ss_ss_s");
  REQUIRE(objected("onetrainer", "", part(R"(, "gradient_checkpointing": false, "offload_fraction": 0.5)")) ==
          "gradient_checkpointing: offloading requires gradient checkpointing");
  REQUIRE(objected("onetrainer", "", part(R"(, "offload_fraction": 1.5)")) ==
          "offload_fraction: expected a number from 0.0 to 1.0");
  REQUIRE(objected("onetrainer", "",
                   R"({"async_offloading": false, "transformer": {"offload_fraction": 0.5}})") != "");
}

TEST_CASE("OneTrainer's configurations of before keep their names") {
  const std::string old =
      "{\n  \"gradient_checkpointing\": \"CPU_OFFLOADED\",\n  \"layer_offload_fraction\": 0.375,\n"
      "  \"transformer\": {\"train\": true}\n}\n";
  REQUIRE(drawn(meant("onetrainer", "", old).plan) == "S_SS_SS_SS_S");
  REQUIRE(drawn(meant("onetrainer", "", R"({"gradient_checkpointing": "ON", "layer_offload_fraction": 0.5})")
                    .plan) == "ssssssss");
  REQUIRE(objected("onetrainer", "", R"({"gradient_checkpointing": "HALF"})") ==
          "gradient_checkpointing: expected OFF, ON or CPU_OFFLOADED");
  REQUIRE(rewritten("onetrainer", old, {{"gradient_checkpointing", true}}) ==
          "{\n  \"gradient_checkpointing\": \"ON\",\n  \"transformer\": {\"train\": true}\n}\n");
  const std::string now = "{\n  \"transformer\": {\n    \"train\": true\n  },\n  \"seed\": 1e-4\n}\n";
  REQUIRE(rewritten("onetrainer", now, {{"gradient_checkpointing", true}, {"offload_fraction", 0.3}}) ==
          "{\n  \"transformer\": {\n    \"train\": true,\n    \"gradient_checkpointing\": true,\n"
          "    \"offload_fraction\": 0.3\n  },\n  \"seed\": 1e-4\n}\n");
}

TEST_CASE("torchtune checkpoints all blocks, or each n-th in its recipe for several devices") {
  REQUIRE(drawn(meant("torchtune", "single_device", "seed: 1\n").plan) == "........");
  REQUIRE(drawn(meant("torchtune", "single_device", "enable_activation_checkpointing: True\n").plan) ==
          "ssssssss");
  const Meaning offloads =
      meant("torchtune", "single_device",
            "enable_activation_checkpointing: True\nenable_activation_offloading: True\n");
  REQUIRE(drawn(offloads.plan) == "SSSSSSSS");
  REQUIRE(offloads.overhead.device == Bytes{5 * 2});
  REQUIRE(objected("torchtune", "single_device", "enable_activation_offloading: True\n") ==
          "enable_activation_offloading: should only be True when enable_activation_checkpointing is True");
  REQUIRE(drawn(meant("torchtune", "distributed", "ac_mode: selective\nac_option: 3\n").plan) == "..s..s..");
  REQUIRE(drawn(meant("torchtune", "distributed", "ac_mode: 'selective'\n").plan) == "ssssssss");
  REQUIRE(drawn(meant("torchtune", "distributed", "ac_mode: full\n").plan) == "ssssssss");
  REQUIRE(meant("torchtune", "single_device", "ac_mode: full\n").warnings.size() == 1);
  REQUIRE(drawn(meant("torchtune", "distributed", "ac_mode: full\nenable_activation_checkpointing: true\n")
                    .plan) == "........");
  REQUIRE(rewritten("torchtune",
                    "a: 1\nenable_activation_checkpointing: True  # True reduces memory\nb: [1, 2]\n",
                    {}) == "a: 1\nb: [1, 2]\n");
}

TEST_CASE("torchtitan checkpoints every second block unless told otherwise") {
  REQUIRE(drawn(meant("torchtitan", "", "").plan) == ".s.s.s.s");
  const auto told = [](const std::string& lines) { return "[activation_checkpoint]\n" + lines; };
  REQUIRE(drawn(meant("torchtitan", "", told("mode = \"none\"\n")).plan) == "........");
  REQUIRE(drawn(meant("torchtitan", "", told("mode = \"full\"\n")).plan) == "ssssssss");
  REQUIRE(drawn(meant("torchtitan", "", told("selective_ac_option = '3'\n")).plan) == "..s..s..");
  REQUIRE(objected("torchtitan", "", told("selective_ac_option = 'op'\n")).find("is not known") !=
          std::string::npos);
  REQUIRE(objected("torchtitan", "", told("mode = \"memory_budget\"\n")).find("is not known") !=
          std::string::npos);
  REQUIRE(objected("torchtitan", "", told("mode = \"half\"\n")) ==
          "activation_checkpoint.mode: expected none, full, selective or memory_budget");
  REQUIRE(objected("torchtitan", "", told("selective_ac_option = 'all'\n")) ==
          "activation_checkpoint.selective_ac_option: expected op or a number");
  REQUIRE(objected("torchtitan", "", "[training]\nenable_cpu_offload = true\n") != "");
  const std::string toml =
      "[job]\nname = \"x\"\n\n[activation_checkpoint]\nmode = \"selective\"  # or full\n"
      "selective_ac_option = \"op\"\n";
  REQUIRE(rewritten("torchtitan", toml, {{"activation_checkpoint.mode", std::string("full")}}) ==
          "[job]\nname = \"x\"\n\n[activation_checkpoint]\nmode = \"full\"  # or full\n");
}

// Of eight blocks in three segments: twice two, and the last four are kept.
TEST_CASE("checkpoint_sequential keeps its last segment, and what is left over") {
  const auto dialect = trainer_named("pytorch").dialect("");
  const auto in_segments = [&](std::int64_t segments) {
    return drawn(dialect->meaning({{"checkpoint_sequential", segments}}, eight_blocks()).plan);
  };
  REQUIRE(in_segments(1) == "........");
  REQUIRE(in_segments(2) == "srrr....");
  REQUIRE(in_segments(3) == "srsr....");
  REQUIRE(in_segments(8) == "sssssss.");
  REQUIRE_THROWS_WITH(in_segments(9), Catch::Matchers::Contains("more segments than the 8 blocks there are"));
  REQUIRE_THROWS_AS(
      dialect->meaning({{"checkpoint", true}, {"checkpoint_sequential", std::int64_t{2}}}, eight_blocks()),
      InputError);
  const Meaning on_cpu = dialect->meaning({{"save_on_cpu", true}}, eight_blocks());
  REQUIRE(on_cpu.plan.blocks[0].offload.size() == 2);
  REQUIRE(on_cpu.overhead.waited == Bytes{2 * 8 * 5});
  REQUIRE(emitted(trainer_named("pytorch"), "python", {{"checkpoint_sequential", std::int64_t{3}}})
              .find("checkpoint_sequential(blocks, segments=3, input=x, use_reentrant=False)") !=
          std::string::npos);
}

TEST_CASE("DeepSpeed sends checkpoints, and the optimizer, to the host") {
  const Meaning on_cpu =
      meant("deepspeed", "checkpointed", R"({"activation_checkpointing": {"cpu_checkpointing": true}})");
  REQUIRE(drawn(on_cpu.plan) == "SSSSSSSS");
  REQUIRE(on_cpu.overhead.device == Bytes{3 * 2});
  REQUIRE(drawn(meant("deepspeed", "plain", "{}").plan) == "........");
  REQUIRE(meant("deepspeed", "plain", R"({"activation_checkpointing": {"cpu_checkpointing": true}})")
              .warnings.size() == 1);
  REQUIRE(
      meant("deepspeed", "checkpointed", R"({"activation_checkpointing": {"partition_activations": true}})")
          .warnings.size() == 1);
  REQUIRE(
      objected("deepspeed", "plain", R"({"zero_optimization": {"offload_optimizer": {"device": "cpu"}}})") ==
      "zero_optimization.offload_optimizer.device: expected with zero_optimization.stage 1, 2 or 3");
  REQUIRE(objected("deepspeed", "plain",
                   R"({"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "nvme"}}})") != "");
  REQUIRE(objected("deepspeed", "plain",
                   R"({"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}})")
              .find("is not known") != std::string::npos);
  REQUIRE(objected("deepspeed", "plain",
                   R"({"activation_checkpointing": {"contiguous_memory_optimization": true}})") != "");
}

TEST_CASE("DeepSpeed's configuration keeps its stage, and gets one where it is missing") {
  const Options on_host{{"zero_optimization.stage", std::int64_t{2}},
                        {"zero_optimization.offload_optimizer.device", std::string("cpu")}};
  REQUIRE(rewritten("deepspeed", "{\n  \"zero_optimization\": {\n    \"stage\": 3\n  }\n}\n", on_host) ==
          "{\n  \"zero_optimization\": {\n    \"stage\": 3,\n    \"offload_optimizer\": {\n"
          "      \"device\": \"cpu\"\n    }\n  }\n}\n");
  REQUIRE(rewritten("deepspeed", "{\"zero_optimization\": {\"stage\": 1}}", {}) ==
          "{\"zero_optimization\": {\"stage\": 1}}");
}
