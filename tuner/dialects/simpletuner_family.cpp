#include "tuner/dialects/simpletuner_family.h"

#include <algorithm>
#include <array>

namespace stowage {
namespace {

constexpr std::array families{
    SimpleTunerFamily{"ace_step", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"anima", Intervals::every_nth, SingleBlocks::by_stride, false, false, false, false,
                      false},
    SimpleTunerFamily{"auraflow", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"boogu_image", Intervals::every_nth, SingleBlocks::by_stride, false, false, false,
                      false, false},
    SimpleTunerFamily{"chroma", Intervals::every_nth, SingleBlocks::by_stride, true, true, true, false,
                      false},
    SimpleTunerFamily{"cosmos", Intervals::every_nth, SingleBlocks::by_stride, false, false, false, true,
                      false},
    SimpleTunerFamily{"cosmos3", Intervals::every_nth, SingleBlocks::by_stride, false, false, false, true,
                      false},
    SimpleTunerFamily{"ernie", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, true,
                      false},
    SimpleTunerFamily{"flux", Intervals::segments, SingleBlocks::by_interval, true, true, true, true, false},
    SimpleTunerFamily{"flux2", Intervals::segments, SingleBlocks::all, true, false, true, true, false},
    SimpleTunerFamily{"heartmula", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"hidream", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"hunyuanvideo", Intervals::segments, SingleBlocks::by_stride, true, false, true, true,
                      true},
    SimpleTunerFamily{"ideogram", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"infinitetalk", Intervals::segments, SingleBlocks::all, false, false, true, true,
                      false},
    SimpleTunerFamily{"kandinsky5_image", Intervals::every_nth, SingleBlocks::by_stride, true, false, true,
                      false, false},
    SimpleTunerFamily{"kandinsky5_video", Intervals::every_nth, SingleBlocks::by_stride, true, false, true,
                      true, false},
    SimpleTunerFamily{"kolors", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"krea2", Intervals::segments, SingleBlocks::all, true, true, true, true, false},
    SimpleTunerFamily{"longcat_image", Intervals::every_nth, SingleBlocks::by_stride, true, false, false,
                      false, false},
    SimpleTunerFamily{"longcat_video", Intervals::every_nth, SingleBlocks::by_stride, true, false, true, true,
                      false},
    SimpleTunerFamily{"ltxvideo", Intervals::segments, SingleBlocks::by_stride, false, false, true, true,
                      false},
    SimpleTunerFamily{"ltxvideo2", Intervals::segments, SingleBlocks::all, true, true, true, true, false},
    SimpleTunerFamily{"lumina2", Intervals::segments, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"mageflow", Intervals::segments, SingleBlocks::all, true, true, true, true, false},
    SimpleTunerFamily{"minimaxh3", Intervals::segments, SingleBlocks::by_stride, true, true, true, true,
                      false},
    SimpleTunerFamily{"minimaxmusic", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, true,
                      false},
    SimpleTunerFamily{"omnigen", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"pixart", Intervals::segments, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"qwen_image", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, true,
                      false},
    SimpleTunerFamily{"sana", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"sanavideo", Intervals::segments, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"sd1x", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"sd3", Intervals::segments, SingleBlocks::by_stride, true, false, true, false, false},
    SimpleTunerFamily{"sdxl", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"stable_cascade", Intervals::every_nth, SingleBlocks::by_stride, false, false, false,
                      false, false},
    SimpleTunerFamily{"wan", Intervals::segments, SingleBlocks::all, true, true, true, true, false},
    SimpleTunerFamily{"wan_s2v", Intervals::every_nth, SingleBlocks::by_stride, false, false, true, false,
                      false},
    SimpleTunerFamily{"z_image", Intervals::segments, SingleBlocks::all, true, true, true, false, false},
    SimpleTunerFamily{"z_image_omni", Intervals::none, SingleBlocks::all, false, false, false, false, false},
    SimpleTunerFamily{"zlab_i1", Intervals::segments, SingleBlocks::by_stride, false, false, false, true,
                      false},
};

}  // namespace

const SimpleTunerFamily* find_simpletuner_family(std::string_view name) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const SimpleTunerFamily& family) { return family.name == name; });
  return found == families.end() ? nullptr : found;
}

std::vector<std::string> simpletuner_family_names() {
  std::vector<std::string> names;
  for (const SimpleTunerFamily& family : families) names.emplace_back(family.name);
  return names;
}

}  // namespace stowage
