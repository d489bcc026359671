// SimpleTuner's options, and what it makes of them: rule by rule.
#include <string>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "traces/error.h"
#include "tuner/choose.h"
#include "tuner/dialects/trainer.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Eight frozen blocks.
const BlockTable& frozen() {
  static const BlockTable table(example_profile(8));
  return table;
}

BlockTable trained() {
  Profile profile = example_profile(8);
  profile.blocks.front().sizes.gradient = profile.blocks.front().sizes.weight;
  return BlockTable(profile);
}

const Trainer& trainer() {
  return trainer_named("simpletuner");
}

std::unique_ptr<Dialect> of_family(const std::string& family) {
  return trainer().dialect(family);
}

Options options_of(const std::string& json) {
  return options_in(trainer(), *json_config(json), ConfigFormat::json);
}

std::string means(const std::string& family, const std::string& config, const BlockTable& table = frozen()) {
  return describe(of_family(family)->meaning(options_of(config), table).plan.settings.value());
}

std::string warns(const std::string& family, const std::string& config, const BlockTable& table = frozen()) {
  std::string text;
  for (const std::string& warning : of_family(family)->meaning(options_of(config), table).warnings)
    text += warning + "\n";
  return text;
}

std::string refuses(const std::string& family, const std::string& config) {
  try {
    of_family(family)->meaning(options_of(config), frozen());
    return "";
  } catch (const InputError& error) {
    return error.path() + ": " + error.reason();
  }
}

// Blocks that are recomputed, "s" where a segment begins: "sr.." is one segment of two.
std::string chosen_blocks(const std::string& family, const std::string& config) {
  const Meaning meaning = of_family(family)->meaning(options_of(config), frozen());
  const Plan& plan = meaning.plan;
  std::string text;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const BlockDecision& block = plan.blocks[i];
    const bool continues = i > 0 && block.segment && plan.blocks[i - 1].segment == block.segment;
    text += block.activation == Activation::keep ? '.' : continues ? 'r' : 's';
  }
  return text;
}

}  // namespace

TEST_CASE("an interval chooses one of every N blocks, with a stride N of every S") {
  REQUIRE(chosen_blocks("auraflow", "{}") == "ssssssss");  // checkpointing is on by default
  REQUIRE(chosen_blocks("auraflow", R"({"gradient_checkpointing": false})") == "........");
  REQUIRE(chosen_blocks("auraflow", R"({"gradient_checkpointing_interval": 1})") == "ssssssss");
  REQUIRE(chosen_blocks("auraflow", R"({"gradient_checkpointing_interval": 2})") == "s.s.s.s.");
  REQUIRE(chosen_blocks("auraflow", R"({"gradient_checkpointing_interval": 2,
                                        "gradient_checkpointing_segment_stride": 4})") == "ss..ss..");
}

TEST_CASE("families with segments take the same options for runs of blocks") {
  REQUIRE(chosen_blocks("flux", R"({"gradient_checkpointing_interval": 2})") == "srsrsrsr");
  REQUIRE(chosen_blocks("flux", R"({"gradient_checkpointing_interval": 3,
                                    "gradient_checkpointing_segment_stride": 4})") == "srr.srr.");
}

// A swap, or a backend for the feed-forward part alone, makes single blocks of segments.
TEST_CASE("where segments cannot be made each family chooses single blocks in its own way") {
  const std::string swapping = R"({"gradient_checkpointing_interval": 2, "musubi_blocks_to_swap": 1,
                                   "gradient_checkpointing_segment_stride": 4})";
  REQUIRE(chosen_blocks("ltxvideo", swapping) == "ss..ss..");
  REQUIRE(chosen_blocks("flux", swapping) == "s.s.s.s.");
  REQUIRE(warns("flux", swapping).find("segment_stride: is ignored") != std::string::npos);
  REQUIRE(chosen_blocks("wan", swapping) == "ssssssss");
  REQUIRE(warns("wan", swapping).find("gradient_checkpointing_interval: has no effect here") !=
          std::string::npos);
  REQUIRE(chosen_blocks("hunyuanvideo", swapping) == "sr..sr..");
}

TEST_CASE("backends recompute, and unsloth sends inputs to the host") {
  REQUIRE(means("flux", R"({"gradient_checkpointing_backend": "unsloth"})") ==
          "recompute+offload, prefetch 0");
  REQUIRE(refuses("pixart", R"({"gradient_checkpointing_backend": "torch-ffn"})") ==
          "gradient_checkpointing_backend: requires FFN-only checkpointing support");
  REQUIRE(means("flux", R"({"gradient_checkpointing_backend": "fast"})") == "recompute, prefetch 0");
  REQUIRE(warns("flux", R"({"gradient_checkpointing_backend": "fast"})").find("torch is used") !=
          std::string::npos);
  REQUIRE(means("anima", R"({"gradient_checkpointing_backend": "unsloth"})") == "recompute, prefetch 0");
  Profile profile = example_profile(8);
  profile.blocks.front().times.scope_forward = {Nanos{6}, Nanos{4}, {}};
  REQUIRE(means("chroma", R"({"gradient_checkpointing_backend": "unsloth-ffn"})", BlockTable(profile)) ==
          "recompute+offload, scope ffn, prefetch 0");
}

TEST_CASE("intervals and strides are checked as the trainer does") {
  REQUIRE(refuses("flux", R"({"gradient_checkpointing_interval": 0})") ==
          "gradient_checkpointing_interval: must be greater than 0");
  REQUIRE(refuses("flux", R"({"gradient_checkpointing_interval": "two"})") ==
          "gradient_checkpointing_interval: must be a positive integer");
  REQUIRE(refuses("flux", R"({"gradient_checkpointing_segment_stride": 0})") ==
          "gradient_checkpointing_segment_stride: must be a positive integer");
  REQUIRE(refuses("flux", R"({"gradient_checkpointing_interval": 4,
                              "gradient_checkpointing_segment_stride": 2})") ==
          "gradient_checkpointing_segment_stride: must be at least the checkpointing interval");
  REQUIRE(warns("flux", R"({"gradient_checkpointing_segment_stride": 2})").find("is ignored") !=
          std::string::npos);
  REQUIRE(chosen_blocks("flux", R"({"gradient_checkpointing_segment_stride": "None"})") == "ssssssss");
  REQUIRE(warns("sdxl", R"({"gradient_checkpointing_interval": 2})").find("all blocks or none") !=
          std::string::npos);
  REQUIRE(chosen_blocks("sdxl", R"({"gradient_checkpointing_interval": 2})") == "ssssssss");
}

TEST_CASE("attention offload needs its family, and its prefetch needs it") {
  REQUIRE(refuses("pixart", R"({"gradient_checkpointing_offload_attention": true})") ==
          "gradient_checkpointing_offload_attention: requires a model with an attention/FFN checkpointing "
          "boundary");
  const std::string alone =
      R"({"gradient_checkpointing": false, "gradient_checkpointing_offload_attention": true)";
  REQUIRE(means("flux", alone + "}") ==
          "offload, scope attention, prefetch 0, h2d streams 4, d2h streams 2, max buckets 12");
  REQUIRE(means("flux", alone + R"(, "gradient_checkpointing_offload_prefetch": true})") ==
          "offload, scope attention, h2d streams 4, d2h streams 2, max buckets 12");
  REQUIRE(means("flux", alone + R"(, "gradient_checkpointing_offload_pin_memory_max_buckets": 0})")
              .ends_with("max buckets 0"));
  REQUIRE(refuses("flux", alone + R"(, "gradient_checkpointing_offload_pin_memory_max_buckets": -1})") ==
          "gradient_checkpointing_offload_pin_memory_max_buckets: must be non-negative");
  REQUIRE(refuses("flux", alone + R"(, "gradient_checkpointing_offload_pin_memory_max_buckets": "many"})") ==
          "gradient_checkpointing_offload_pin_memory_max_buckets: must be a non-negative integer");
  REQUIRE(warns("flux", R"({"gradient_checkpointing_offload_prefetch": true})").find("is off without") !=
          std::string::npos);
  REQUIRE(refuses("flux", R"({"gradient_checkpointing_offload_attention": true})").find("is not known") !=
          std::string::npos);
}

TEST_CASE("the last blocks are swapped, of frozen weights, where the family lets them") {
  REQUIRE(means("flux", R"({"musubi_blocks_to_swap": 3})") == "recompute, swap 3 last, prefetch 0");
  REQUIRE(means("flux", R"({"musubi_blocks_to_swap": 20})") == "recompute, swap 7 last, prefetch 0");
  REQUIRE(warns("flux", R"({"musubi_blocks_to_swap": 20})").find("more than 7") != std::string::npos);
  REQUIRE(refuses("flux", R"({"musubi_blocks_to_swap": -1})") ==
          "musubi_blocks_to_swap: must be non-negative");
  REQUIRE(means("pixart", R"({"musubi_blocks_to_swap": 3})") == "recompute, prefetch 0");
  REQUIRE(warns("pixart", R"({"musubi_blocks_to_swap": 3})").find("does not reach") != std::string::npos);
  const BlockTable table = trained();
  REQUIRE(means("flux", R"({"musubi_blocks_to_swap": 3})", table) == "recompute, prefetch 0");
  REQUIRE(warns("flux", R"({"musubi_blocks_to_swap": 3})", table).find("never leave") != std::string::npos);
  REQUIRE(refuses("flux", R"({"musubi_blocks_to_swap": 3, "ramtorch": true})") ==
          "ramtorch: cannot be used together with musubi_blocks_to_swap");
  REQUIRE(refuses("flux", R"({"enable_group_offload": true})") != "");
}

TEST_CASE("an unknown family is refused with a list of the others") {
  REQUIRE_THROWS_WITH(of_family("fluxx"), Catch::Matchers::Contains("flux2, hunyuanvideo") ||
                                              Catch::Matchers::Contains("heartmula, hidream"));
}

// By brute force over all that it can be told: every shape with every swap count.
TEST_CASE("the choice is the fastest of all that fits") {
  const Machine machine = plain_machine();
  for (const char* family : {"auraflow", "flux", "wan", "qwen_image", "hunyuanvideo", "sdxl"}) {
    const std::unique_ptr<Dialect> owned = of_family(family);
    const Dialect& dialect = *owned;
    for (std::int64_t device : {150, 180, 200, 230, 260, 300, 340, 400}) {
      INFO(family << " " << device);
      const Budget budget{{device}, {1'000'000}, {1'000'000}};
      std::optional<Nanos> fastest;
      for (const Options& shape : dialect.shapes(frozen())) {
        for (std::int64_t blocks = 0; blocks <= dialect.most_swapped(shape, frozen()); ++blocks) {
          Options options = shape;
          if (blocks > 0) dialect.swap(options, blocks);
          const Run run = price(frozen(), machine, dialect, options).run;
          if (fits(run.peaks, budget) && (!fastest || run.step < *fastest)) fastest = run.step;
        }
      }
      const Choice choice = choose(frozen(), machine, budget, dialect);
      REQUIRE(choice.best.has_value() == fastest.has_value());
      if (!fastest) continue;
      REQUIRE(choice.best->run.step == *fastest);
      REQUIRE(fits(choice.best->run.peaks, budget));
      // What is printed means what was chosen.
      const Options said = options_of(emitted(trainer(), "json", choice.best->options));
      REQUIRE(dialect.meaning(said, frozen()).plan.settings == choice.best->meaning.plan.settings);
    }
  }
}

TEST_CASE("a configuration is rewritten with nothing but its memory options changed") {
  const std::string config = R"({
    "--model_family": "flux",
    "--gradient_checkpointing": "true",
    "--musubi_blocks_to_swap": 20,
    "--ramtorch": false,
    "--prompt": "a \"cat\", {odd}",
    "--rate": 1e-4
})";
  const Options options{{"gradient_checkpointing", true},
                        {"gradient_checkpointing_interval", std::int64_t{2}}};
  const auto text = json_config(config);
  write_options(trainer(), *text, ConfigFormat::json, options);
  REQUIRE(text->text() == R"({
    "--model_family": "flux",
    "--gradient_checkpointing": true,
    "--ramtorch": false,
    "--prompt": "a \"cat\", {odd}",
    "--rate": 1e-4,
    "--gradient_checkpointing_interval": 2
})");
  REQUIRE(trainer().file.family(*text, ConfigFormat::json) == "flux");
}

TEST_CASE("options are written as flags and as environment") {
  const Options options{{"gradient_checkpointing", true},
                        {"gradient_checkpointing_backend", std::string("unsloth")},
                        {"musubi_blocks_to_swap", std::int64_t{3}}};
  REQUIRE(emitted(trainer(), "flags", options) ==
          "--gradient_checkpointing=true --gradient_checkpointing_backend=unsloth --musubi_blocks_to_swap=3");
  REQUIRE(emitted(trainer(), "env", options) ==
          "USE_GRADIENT_CHECKPOINTING=true\n"
          "TRAINER_EXTRA_ARGS=\"--gradient_checkpointing_backend=unsloth --musubi_blocks_to_swap=3\"\n");
}
