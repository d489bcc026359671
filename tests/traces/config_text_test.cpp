// Configuration files of other programs, of which single values change and nothing else does.
#include "traces/config/config_text.h"

#include <string>

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

namespace {

std::string with(ConfigFormat format, const std::string& text, const std::string& path,
                 const ConfigValue& value) {
  const auto config = config_text(format, text);
  config->set(path, value);
  REQUIRE(config->value(path) == std::optional(value));
  return config->text();
}

std::string without(ConfigFormat format, const std::string& text, const std::string& path) {
  const auto config = config_text(format, text);
  config->erase(path);
  REQUIRE_FALSE(config->value(path));
  return config->text();
}

const std::string toml = R"(# what we train
seed = 42  # as ever

[activation_checkpoint]
mode = "selective"  # none, full
selective_ac_option = '2'

[training]
steps = 1_000
)";

const std::string yaml = R"(# what we train
seed: 42  # as ever
enable_activation_checkpointing: True  # True reduces memory
optimizer:
  _component_: torch.optim.AdamW
  lr: 2e-5
profiler:
  enabled: False
)";

const std::string script =
    "accelerate launch train.py \\\n  --dit model.safetensors \\\n"
    "  --blocks_to_swap 20 --gradient_checkpointing \\\n  --seed 42\n";

}  // namespace

TEST_CASE("a value in TOML changes, comments and order stay") {
  REQUIRE(config_text(ConfigFormat::toml, toml)->value("training.steps") == ConfigValue(std::int64_t{1000}));
  std::string expected = toml;
  expected.replace(expected.find("\"selective\""), 11, "\"full\"");
  REQUIRE(with(ConfigFormat::toml, toml, "activation_checkpoint.mode", std::string("full")) == expected);
  expected = toml;
  expected.insert(expected.find("\n[training]"), "memory_budget = 0.5\n");
  REQUIRE(with(ConfigFormat::toml, toml, "activation_checkpoint.memory_budget", 0.5) == expected);
  expected = toml;
  expected.erase(expected.find("selective_ac"), 26);
  REQUIRE(without(ConfigFormat::toml, toml, "activation_checkpoint.selective_ac_option") == expected);
  expected = toml;
  expected.insert(expected.find("\n[activation"), "blocks_to_swap = 3\n");
  REQUIRE(with(ConfigFormat::toml, toml, "blocks_to_swap", std::int64_t{3}) == expected);
  REQUIRE(with(ConfigFormat::toml, "a = 1", "b", true) == "a = 1\nb = true\n");
  REQUIRE(with(ConfigFormat::toml, "a = 1\n", "t.b", true) == "a = 1\n\n[t]\nb = true\n");
  REQUIRE(with(ConfigFormat::toml, "", "b", true) == "b = true\n");
  REQUIRE_THROWS_AS(config_text(ConfigFormat::toml, "a = \n"), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::toml, "t = {a = 1}\n")->set("t.b", true), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::toml, "t = {a = 1}\n")->erase("t.a"), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::toml, "t = [1]\n")->value("t"), InputError);
}

TEST_CASE("a value in YAML changes, comments and order stay") {
  REQUIRE(config_text(ConfigFormat::yaml, yaml)->value("optimizer.lr") == ConfigValue(2e-5));
  std::string expected = yaml;
  expected.replace(expected.find("True  #"), 4, "false");
  REQUIRE(with(ConfigFormat::yaml, yaml, "enable_activation_checkpointing", false) == expected);
  REQUIRE(with(ConfigFormat::yaml, yaml, "ac_mode", std::string("selective")) ==
          yaml + "ac_mode: selective\n");
  expected = yaml;
  expected.insert(expected.find("profiler"), "  fused: true\n");
  REQUIRE(with(ConfigFormat::yaml, yaml, "optimizer.fused", true) == expected);
  expected = yaml;
  expected.erase(expected.find("enable_"), expected.find("optimizer") - expected.find("enable_"));
  REQUIRE(without(ConfigFormat::yaml, yaml, "enable_activation_checkpointing") == expected);
  REQUIRE(with(ConfigFormat::yaml, "", "a.b", std::int64_t{1}) == "a:\n  b: 1\n");
  REQUIRE(with(ConfigFormat::yaml, "a: 'it''s' # x\n", "a", std::string("true")) == "a: \"true\" # x\n");
  REQUIRE_FALSE(config_text(ConfigFormat::yaml, "a: null\n")->value("a"));
  REQUIRE(with(ConfigFormat::yaml, "a: null\nb: 1\n", "a", true) == "a: true\nb: 1\n");
  REQUIRE_THROWS_AS(config_text(ConfigFormat::yaml, "a: [1\n"), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::yaml, "- 1\n"), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::yaml, "t: {a: 1}\n")->set("t.b", true), InputError);
  REQUIRE_THROWS_AS(config_text(ConfigFormat::yaml, "t: {a: 1}\n")->erase("t.a"), InputError);
}

TEST_CASE("flags in a script change, its lines stay") {
  REQUIRE(config_text(ConfigFormat::flags, script)->value("gradient_checkpointing") == ConfigValue(true));
  REQUIRE(config_text(ConfigFormat::flags, "--a=3 --b 'x y'")->value("a") == ConfigValue(std::int64_t{3}));
  REQUIRE(config_text(ConfigFormat::flags, "--a=3 --b 'x y'")->value("b") == ConfigValue(std::string("x y")));
  std::string expected = script;
  expected.replace(expected.find("swap 20"), 7, "swap 30");
  REQUIRE(with(ConfigFormat::flags, script, "blocks_to_swap", std::int64_t{30}) == expected);
  expected = script;
  expected.erase(expected.find(" --gradient"), 25);
  REQUIRE(without(ConfigFormat::flags, script, "gradient_checkpointing") == expected);
  REQUIRE(with(ConfigFormat::flags, script, "ring", std::int64_t{1}) ==
          script.substr(0, script.size() - 1) + " \\\n  --ring 1\n");
  REQUIRE(with(ConfigFormat::assignments, "", "on", false) == "--on=false");
  REQUIRE(with(ConfigFormat::flags, "train.py", "on", true) == "train.py --on");
  // A comment between flags is none of them.
  REQUIRE_FALSE(config_text(ConfigFormat::flags, "run --a 1\n# --b 2\n")->value("b"));
}

TEST_CASE("variables of an environment change, and arguments that one of them holds") {
  const std::string env = "export A=1 # one\nEXTRA=\"--x=1 --y=2\"\n";
  REQUIRE(with(ConfigFormat::env, env, "A", std::int64_t{2}) == "export A=2 # one\nEXTRA=\"--x=1 --y=2\"\n");
  REQUIRE(with(ConfigFormat::env, env, "EXTRA:y", std::int64_t{3}) ==
          "export A=1 # one\nEXTRA=\"--x=1 --y=3\"\n");
  REQUIRE(without(ConfigFormat::env, env, "EXTRA:x") == "export A=1 # one\nEXTRA=\"--y=2\"\n");
  REQUIRE(without(ConfigFormat::env, env, "A") == "EXTRA=\"--x=1 --y=2\"\n");
  REQUIRE(with(ConfigFormat::env, env, "B", true) == env + "export B=true\n");
  REQUIRE(with(ConfigFormat::env, "", "M:z", true) == "M=\"--z=true\"\n");
}

TEST_CASE("a value deep in JSON changes, and nothing around it") {
  const std::string json = "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": 1e-4\n}\n";
  REQUIRE(with(ConfigFormat::json, json, "a.b", 0.5) ==
          "{\n  \"a\": {\n    \"b\": 0.5\n  },\n  \"c\": 1e-4\n}\n");
  REQUIRE(without(ConfigFormat::json, json, "c") == "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
  REQUIRE(config_text(ConfigFormat::json, json)->value("c") == ConfigValue(1e-4));
  REQUIRE_THROWS_AS(config_text(ConfigFormat::json, json)->value("a"), InputError);
}
