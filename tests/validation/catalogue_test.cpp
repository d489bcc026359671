// Every family that is shipped: its blocks, its weights, and what its trainer accepts.
#include <cmath>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/paths.h"
#include "tuner/dialects/simpletuner_family.h"
#include "validation/families.h"

using namespace stowage;
using namespace stowage::tests;

namespace catalogue_test {
namespace {

std::vector<Family> shipped() {
  return read_families(source_folder() + "/catalogue/families.json");
}

// Blocks that options reach, counted in the published configurations. Of U-Nets, the transformers.
const std::map<std::string, std::int64_t> blocks_of{{"pixart-900m", 42},
                                                    {"auraflow", 36},
                                                    {"lumina2", 26},
                                                    {"longcat-image", 30},
                                                    {"krea2", 28},
                                                    {"kolors", 70},
                                                    {"kandinsky5-image", 52},
                                                    {"ideogram4", 34},
                                                    {"hidream", 48},
                                                    {"ernie-image", 36},
                                                    {"cosmos2", 28},
                                                    {"anima", 28},
                                                    {"cosmos3-edge", 28},
                                                    {"chroma", 57},
                                                    {"boogu-image", 40},
                                                    {"ace-step", 24},
                                                    {"sd3.5-medium", 24},
                                                    {"sdxl", 70},
                                                    {"sd1", 16},
                                                    {"sana-4.8b", 60},
                                                    {"z-image", 34},
                                                    {"zlab-i1", 29},
                                                    {"qwen-image", 60},
                                                    {"stable-cascade", 192},
                                                    {"mageflow", 12},
                                                    {"omnigen", 32},
                                                    {"ltx-video", 28},
                                                    {"ltx-video2", 48},
                                                    {"longcat-video", 48},
                                                    {"kandinsky5-video", 34},
                                                    {"hunyuanvideo1.5", 54},
                                                    {"sana-video", 20},
                                                    {"wan2.1-1.3b", 30},
                                                    {"wan2.1-14b", 40},
                                                    {"wan2.2-s2v", 40},
                                                    {"heartmula", 28},
                                                    {"flux1-dev", 57},
                                                    {"flux2-klein-9b", 32},
                                                    {"flux2-klein-4b", 25},
                                                    {"flux2-dev", 56},
                                                    {"z-image-omni", 30},
                                                    {"wan2.2-5b", 30},
                                                    {"infinitetalk", 40},
                                                    {"minimax-h3", 50},
                                                    {"minimax-music", 36},
                                                    {"hunyuanvideo", 60},
                                                    {"cogvideox-2b", 30},
                                                    {"cogvideox-5b", 42},
                                                    {"sd3.5-large", 38},
                                                    {"sana-1.6b", 20},
                                                    {"pixart-sigma", 28},
                                                    {"llama3.2-1b", 16},
                                                    {"llama3.2-3b", 28},
                                                    {"llama3.1-8b", 32},
                                                    {"llama3.1-70b", 80},
                                                    {"mistral-7b", 32},
                                                    {"mistral-nemo", 40},
                                                    {"mistral-small", 40},
                                                    {"qwen2.5-0.5b", 24},
                                                    {"qwen2.5-1.5b", 28},
                                                    {"qwen2.5-7b", 28},
                                                    {"qwen2.5-14b", 48},
                                                    {"qwen2.5-32b", 64},
                                                    {"qwen2.5-72b", 80},
                                                    {"qwen3-0.6b", 28},
                                                    {"qwen3-4b", 36},
                                                    {"qwen3-8b", 36},
                                                    {"qwen3-14b", 40},
                                                    {"qwen3-32b", 64},
                                                    {"gemma2-2b", 26},
                                                    {"gemma2-9b", 42},
                                                    {"gemma2-27b", 46},
                                                    {"gemma3-4b", 34},
                                                    {"gemma3-12b", 48},
                                                    {"gemma3-27b", 62}};

}  // namespace

TEST_CASE("every family has its number of blocks") {
  const std::vector<Family> families = shipped();
  REQUIRE(families.size() == blocks_of.size());
  for (const Family& family : families) {
    INFO(family.facts.id);
    REQUIRE(chain_of(family).size() == static_cast<std::size_t>(blocks_of.at(family.facts.id)));
  }
}

// What the shape adds up to, against the known total.
TEST_CASE("every family's weights are within 5 percent of its known total") {
  for (const Family& family : shipped()) {
    const double known = static_cast<double>(family.facts.parameters);
    const double summed = static_cast<double>(parameters_of(family));
    INFO(family.facts.id << ": " << summed << " of " << known);
    REQUIRE(known > 0);
    REQUIRE(std::abs(summed / known - 1) <= 0.05);
  }
}

// Each mode of segments is what the trainer makes of an interval.
TEST_CASE("every family that SimpleTuner trains accepts the controls that the catalogue says") {
  std::size_t trained = 0;
  for (const Family& family : shipped()) {
    if (family.facts.trainer_family.empty()) continue;
    INFO(family.facts.id);
    const SimpleTunerFamily* controls = find_simpletuner_family(family.facts.trainer_family);
    REQUIRE(controls != nullptr);
    if (controls->intervals == Intervals::none)
      REQUIRE(!family.segmenting);
    else
      REQUIRE(family.segmenting ==
              (controls->intervals == Intervals::segments ? Segmenting::contiguous : Segmenting::every_nth));
    ++trained;
  }
  REQUIRE(trained >= 46);
}

// Two attentions, one of them over text, of 1536: 8 squares; two matrices of 1536 x 8960.
TEST_CASE("weights of a block by its shape") {
  const std::vector<Family> families = shipped();
  const Family* wan = find_family(families, "wan2.1-1.3b");
  REQUIRE(wan != nullptr);
  REQUIRE(parameters_of(wan->groups.front().shape) == 8 * 1536 * 1536 + 2 * 1536 * 8960);
  // Two streams of 3072: an attention of 4 squares, a hidden layer of 8 and modulations of 6, each.
  const Family* flux = find_family(families, "Flux.1");
  REQUIRE(flux != nullptr);
  REQUIRE(parameters_of(flux->groups.front().shape) == 36 * 3072 * 3072);
}

}  // namespace catalogue_test
