// Families at other sizes, and profiles that say what was forecast.
#include "forecast/size.h"

#include <cmath>

#include "forecast/forecast_profile.h"
#include "forecast/gpus.h"
#include "simulator/evaluator.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "traces/error.h"
#include "validation/link_table.h"
#include "validation/published_figures.h"

using namespace stowage;
using namespace stowage::tests;

namespace size_test {
namespace {

const std::vector<Family>& shipped() {
  static const std::vector<Family> families = read_families(source_folder() + "/catalogue/families.json");
  return families;
}

const Family& family_named(const std::string& name) {
  const Family* family = find_family(shipped(), name);
  REQUIRE(family != nullptr);
  return *family;
}

std::string size_refused(const std::string& name, const SampleSize& size) {
  try {
    sized(family_named(name), size);
    return "accepted";
  } catch (const InputError& error) {
    return error.source() + ": " + error.reason();
  }
}

}  // namespace

// 1024 px are 64 x 64 tokens of 16 px; 512 px a quarter. Text stays.
TEST_CASE("image tokens grow with the pixels") {
  const Family small = sized(family_named("flux1-dev"), {.resolution = 512});
  REQUIRE(small.groups.front().shape.image_tokens == 1024);
  REQUIRE(small.groups.front().shape.text_tokens == 512);
  REQUIRE(sized(small, {.resolution = 1024}) == family_named("flux1-dev"));
}

// 81 frames are 21 moments of four and one, 41 are 11.
TEST_CASE("image tokens grow with the frames") {
  const Family clip = sized(family_named("wan2.1-14b"), {.frames = 41, .batch = 2});
  REQUIRE(clip.groups.front().shape.image_tokens == 18900 / 21 * 11);
  REQUIRE(clip.batch == 2);
  REQUIRE(unlikeness(clip, family_named("wan2.1-14b")) == Approx(std::log(21.0 / 22)).margin(0.1));
}

TEST_CASE("sequences have the length that is asked for") {
  REQUIRE(sized(family_named("llama3.1-8b"), {.tokens = 512}).groups.front().shape.text_tokens == 512);
}

TEST_CASE("impossible sizes are refused") {
  REQUIRE(size_refused("flux1-dev", {.frames = 9}) ==
          "--frames: expected without: Flux.1 makes single pictures");
  REQUIRE(size_refused("flux1-dev", {.resolution = 8}) ==
          "--resolution: expected at least 16, the side of one token of Flux.1");
  REQUIRE(size_refused("flux1-dev", {.tokens = 8}).starts_with("--tokens: expected with sequences"));
  REQUIRE(size_refused("llama3.1-8b", {.resolution = 8}).starts_with("--resolution: expected with pictures"));
  REQUIRE(size_refused("wan2.1-14b", {.resolution = 16384, .frames = 4096})
              .starts_with("--frames: expected a sample"));
}

// Of any two steps the profile says both, to a part in a thousand.
TEST_CASE("a profile says the steps that it was made from") {
  const Family family = sized(family_named("z-image"), {.batch = 1});
  const SweepBasis basis{{nanos_of(0.243), bytes_of(21.25)}, {nanos_of(0.479), bytes_of(12.87)}};
  const Gpu gpu = read_gpus(source_folder() + "/catalogue/gpus.json").front();
  const ForecastProfile made = forecast_profile(family, {}, gpu, basis, StepModel::fitted({}));
  REQUIRE(made.profile.blocks.size() == 34);
  REQUIRE(made.profile.blocks.front().sizes.weight > Bytes{});
  REQUIRE(made.profile.fixed.resident >= Bytes{});
  const BlockTable table(made.profile);
  const auto run = Evaluator(ample_machine()).evaluate(compile(table, expand(table, Settings{}).plan));
  REQUIRE(run->peaks.device.value == Approx(static_cast<double>(basis.none.peak.value)).epsilon(1e-3));
  REQUIRE(run->step.value == Approx(static_cast<double>(basis.none.step.value)).epsilon(1e-3));
  REQUIRE(parse_profile(to_json(made.profile)) == made.profile);
}

// Trained in full, gradients are the blocks' and the optimizer's states are told apart.
TEST_CASE("a profile of full training has gradients") {
  const Family& family = family_named("llama3.2-1b");
  TrainedShape training;
  training.recipe.adapter = AdapterKind::full;
  const Gpu gpu = read_gpus(source_folder() + "/catalogue/gpus.json").front();
  const StepModel model = StepModel::fitted({});
  const auto reading = [&](bool checkpointed) {
    const Situation step = situation(family, family.name, training, gpu, checkpointed);
    return Reading{nanos_of(model.seconds(step)), Bytes{std::llround(model.bytes(step))}};
  };
  const ForecastProfile made =
      forecast_profile(family, training, gpu, {reading(false), reading(true)}, model);
  REQUIRE(made.profile.blocks.front().sizes.gradient == made.profile.blocks.front().sizes.weight);
  REQUIRE(made.profile.fixed.optimizer_state.value ==
          Approx(6.0 * static_cast<double>(family.facts.parameters)).epsilon(0.01));
  REQUIRE(made.profile.fixed.epilogue_bytes == Bytes{4096LL * 128256 * 10});
}

}  // namespace size_test
