// `stowage tune`, run as a process, on the worked example: four blocks, 130 ns and 217 bytes when all is
// kept.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/plan/chain_profile.h"
#include "tests/traces/refusal.h"
#include "traces/file.h"
#include "tuner/dialects/trainer.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

const std::string tune = "tune profile.json --machine machine.json ";

// The JSON without the time that the search took.
std::string timeless(const Ended& ended) {
  const std::size_t at = ended.out.find("\"elapsed_ns\"");
  REQUIRE(at != std::string::npos);
  return ended.out.substr(0, at);
}

std::string trainer_names() {
  std::string names = "native";
  for (const Trainer& trainer : trainers()) names += ", " + std::string(trainer.name);
  return names;
}

}  // namespace

TEST_CASE("where everything fits, it is kept") {
  const Ended ended = Workplace().stowage(tune + "--vram 217 --json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("outcome").string() == "ran");
  REQUIRE(figure(answer, "step_ns") == 130);
  REQUIRE(figure(answer, "null_step_ns") == 130);
  REQUIRE(figure(answer, "bound_ns") == 130);
  REQUIRE(answer.at("gap").number(0, 0) == 0);
  REQUIRE(answer.at("optimal").boolean());
  REQUIRE(answer.at("emitted").string() == "--policy keep");
}

// Nothing is faster than 130 ns of compute. Three swapped blocks, loaded behind the compute, save 5 bytes and
// reach it: a row of the execution model's table.
TEST_CASE("five bytes less are had for nothing, by swapping weights") {
  const JsonNode answer = Workplace().stowage(tune + "--vram 212 --json").json();
  REQUIRE(figure(answer, "step_ns") == 130);
  REQUIRE(figure(answer, "peak_bytes") <= 212);
  REQUIRE(figure(answer, "null_peak_bytes") == 217);
  REQUIRE_FALSE(answer.at("null_fits").boolean());
}

TEST_CASE("interrupted, the search answers with the best so far") {
  const Workplace workplace;
  Profile profile = example_profile();
  profile.blocks.resize(1);
  profile.blocks[0].count = 500;
  workplace.write("long.json", to_json(profile));
  // In the foreground it sends the signal once; a second one would end the program.
  const Ended ended = workplace.stowage("tune long.json --machine machine.json --vram 4500 --json",
                                        "timeout --foreground --preserve-status -s INT 1");
  REQUIRE((ended.code == 0 || ended.code == 1));
  REQUIRE(ended.json().at("interrupted").boolean());
  REQUIRE(ended.err.find("the best so far") != std::string::npos);
}

TEST_CASE("the plan that is written is the plan that was predicted") {
  const Workplace workplace;
  const JsonNode tuned = workplace.stowage(tune + "--vram 180 --json -o plan.json").json();
  const Ended ended =
      workplace.stowage("simulate profile.json --machine machine.json --vram 180 --plan plan.json --json");
  REQUIRE(ended.code == 0);
  for (const char* key : {"step_ns", "stall_ns", "peak_bytes", "host_peak_bytes"})
    REQUIRE(figure(ended.json(), key) == figure(tuned, key));
  // The flags make the fastest plan that flags make.
  const std::string flags = tuned.at("emitted").string();
  REQUIRE(figure(workplace.stowage("simulate profile.json --machine machine.json --json " + flags).json(),
                 "step_ns") == figure(tuned, "settings_step_ns"));
}

// Of 180 bytes no plan makes less than 140 ns, and one that decides block by block reaches it; settings 150.
TEST_CASE("a plan without settings may be faster than every plan with them") {
  const Workplace workplace;
  const JsonNode free = workplace.stowage(tune + "--vram 180 --json").json();
  REQUIRE(free.at("plan").at("settings").is_null());
  REQUIRE(figure(free, "step_ns") == 140);
  REQUIRE(figure(free, "settings_step_ns") == 150);
  REQUIRE(figure(free, "bound_ns") <= 140);
  const JsonNode settings = workplace.stowage(tune + "--vram 180 --plans settings --json").json();
  REQUIRE(figure(settings, "step_ns") == 150);
  REQUIRE(settings.at("optimal").boolean());
}

TEST_CASE("the frontier falls as it rises") {
  const auto points = Workplace().stowage(tune + "--vram 180 --json").json().at("frontier").items();
  REQUIRE(points.size() >= 2);
  for (std::size_t i = 1; i < points.size(); ++i) {
    REQUIRE(figure(points[i], "peak_bytes") > figure(points[i - 1], "peak_bytes"));
    REQUIRE(figure(points[i], "step_ns") < figure(points[i - 1], "step_ns"));
  }
}

TEST_CASE("a budget that nothing fits gets the least that would do, margin included") {
  const Workplace workplace;
  const Ended ended = workplace.stowage(tune + "--vram 110 --margin 10 --json -o plan.json");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.err == "");
  REQUIRE_FALSE(workplace.holds("plan.json"));
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("outcome").string() == "out_of_memory");
  const std::int64_t least = figure(answer, "least_bytes");
  REQUIRE(least > 110);
  REQUIRE(workplace.stowage(tune + "--margin 10 --vram " + std::to_string(least)).code == 0);
  REQUIRE(workplace.stowage(tune + "--margin 10 --vram " + std::to_string(least - 1)).code == 1);
  REQUIRE(workplace.stowage(tune + "--vram 110").out.starts_with("Nothing fits 110 B on the device."));
}

TEST_CASE("the same answer at any number of threads") {
  const Workplace workplace;
  REQUIRE(timeless(workplace.stowage(tune + "--vram 180 --json --threads 1")) ==
          timeless(workplace.stowage(tune + "--vram 180 --json --threads 3")));
}

TEST_CASE("a plan for another profile, and a plan beside settings, are refused") {
  const Workplace workplace;
  REQUIRE(workplace.stowage(tune + "--vram 180 -o plan.json").code == 0);
  workplace.write("other.json",
                  changed(workplace.read("profile.json"), "\"weight_bytes\": 5", "\"weight_bytes\": 6"));
  const Ended other = workplace.stowage("simulate other.json --machine machine.json --plan plan.json");
  REQUIRE(other.code == 2);
  REQUIRE(other.err.starts_with("stowage: plan.json: subject: "));
  const Ended both =
      workplace.stowage("simulate profile.json --machine machine.json --plan plan.json --interval 2");
  REQUIRE(both.code == 2);
  REQUIRE(both.err.starts_with("stowage: --interval: "));
}

TEST_CASE("budgets and targets that make no sense are refused") {
  const Workplace workplace;
  REQUIRE(workplace.stowage(tune + "--vram -1").err.starts_with("stowage: --vram: "));
  REQUIRE(workplace.stowage(tune + "--vram 100 --margin 101").err ==
          "stowage: --margin: more than the 100 B that the device has\n");
  REQUIRE(workplace.stowage(tune + "--target rust").err ==
          "stowage: --target: expected one of " + trainer_names() + ", not \"rust\"\n");
  REQUIRE(workplace.stowage(tune + "--target simpletunr").err ==
          "stowage: --target: expected one of " + trainer_names() +
              ", not \"simpletunr\"; did you mean simpletuner?\n");
  REQUIRE(workplace.stowage(tune + "--threads 0").code == 2);
}

// Keeping everything takes 217 B, recomputing all 157 B in 170 ns, swapping three of four blocks at most 15 B
// less. SimpleTuner cannot swap in this family, nor offload.
TEST_CASE("the best that a trainer can be told is told in its words") {
  const Workplace place;
  place.write("config.json", "{\n  \"--model_family\": \"pixart\",\n  \"--rate\": 1e-4\n}\n");
  const std::string base = "tune profile.json --machine machine.json --target simpletuner ";
  const Ended told = place.stowage(base + "--config config.json --rewrite new.json --vram 176B --json");
  INFO(told.out << told.err);
  REQUIRE(told.code == 0);
  const JsonNode answer = told.json();
  REQUIRE(answer.at("peak_bytes").integer() <= 176);
  REQUIRE(answer.at("configured").at("fits").boolean());
  REQUIRE(answer.at("configured").at("step_ns").integer() == 170);
  REQUIRE(answer.at("emitted").string().find("\"gradient_checkpointing\": true") != std::string::npos);
  REQUIRE(read_file(place.path("new.json"))
              .starts_with("{\n  \"--model_family\": \"pixart\",\n  \"--rate\": 1e-4,"));
  const Ended again = place.stowage(base + "--config new.json --vram 176B --json");
  REQUIRE(again.json().at("configured").at("step_ns").integer() == answer.at("step_ns").integer());

  REQUIRE(place.stowage(base + "--family pixart --vram 100B").code == 1);
  REQUIRE(place.stowage(base).err.starts_with(
      "stowage: --family: expected, or a --config that has model_family; one of ace_step, anima"));
  REQUIRE(place.stowage(base + "--family fluxx")
              .err.starts_with("stowage: --family: model_family: expected one of"));
  REQUIRE(place.stowage("tune profile.json --machine machine.json --family flux").err ==
          "stowage: --family: expected with --target, which names a trainer\n");
  place.write("bad.json", R"({"model_family": "flux", "gradient_checkpointing_interval": 0})");
  REQUIRE(place.stowage(base + "--config bad.json").err ==
          "stowage: bad.json: gradient_checkpointing_interval: must be greater than 0\n");
}

// musubi-tuner as its users have it: a script, whose name says the family. Checkpoints do with 157 B what the
// script would have swapped for.
TEST_CASE("a script of a trainer is priced, and written with other flags") {
  const Workplace place;
  place.write(
      "train.sh",
      "accelerate launch wan_train_network.py \\\n  --dit a.safetensors --blocks_to_swap 2 \\\n  --seed 1\n");
  const Ended told = place.stowage(
      "tune profile.json --machine machine.json --target musubi --config train.sh --rewrite new.sh --vram "
      "160 --json");
  INFO(told.out << told.err);
  REQUIRE(told.code == 0);
  REQUIRE_FALSE(told.json().at("configured").at("fits").boolean());
  REQUIRE(told.json().at("configured").at("readings").items().size() == 2);
  REQUIRE(told.json().at("emitted").string() == "--gradient_checkpointing");
  REQUIRE(read_file(place.path("new.sh")) ==
          "accelerate launch wan_train_network.py \\\n  --dit a.safetensors \\\n"
          "  --seed 1 \\\n  --gradient_checkpointing\n");
  REQUIRE(place.stowage(tune + "--target musubi").err.find("one of flux_2, flux_kontext") !=
          std::string::npos);
  REQUIRE(place.stowage(tune + "--target pytorch --config train.sh").err ==
          "stowage: train.sh: PyTorch has no configuration files\n");
  REQUIRE(place.stowage(tune + "--target pytorch --family wan").code == 2);
  REQUIRE(place.stowage(tune + "--target pytorch --form toml").err ==
          "stowage: --form: expected python, not \"toml\"\n");
}
