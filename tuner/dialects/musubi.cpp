#include "tuner/dialects/musubi.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/dialects/kohya_families.h"
#include "tuner/dialects/offloaded_checkpoints.h"
#include "tuner/dialects/option_reader.h"
#include "tuner/dialects/rotation.h"
#include "tuner/settings_space.h"

namespace stowage {
namespace {

// training/parser_common.py
constexpr std::string_view checkpointed = "gradient_checkpointing";
constexpr std::string_view checkpoints_on_cpu = "gradient_checkpointing_cpu_offload";
constexpr std::string_view to_swap = "blocks_to_swap";
constexpr std::string_view pinned = "use_pinned_memory_for_block_swap";
constexpr std::string_view h2d_only = "block_swap_h2d_only";
constexpr std::string_view ring_size = "block_swap_ring_size";
constexpr std::array musubi_keys{checkpointed, checkpoints_on_cpu, to_swap, pinned, h2d_only, ring_size};

constexpr std::int64_t default_ring = 2;

// Each enable_block_swap(), and the forward passes that read activation_cpu_offloading. HunyuanVideo 1.5 asks
// for fewer than the blocks less two; Ideogram 4 for at most 33.
constexpr KohyaFamily musubi_families[] = {
    {"flux_2", "flux_2_train", SwapSplit::by_ratio, 2},
    {"flux_kontext", "flux_kontext_train", SwapSplit::halves_1, 2},
    {"framepack", "fpack_train", SwapSplit::halves_1, 1},
    {"hidream_o1", "hidream_o1_train", SwapSplit::one_list, 1, false},
    {"hunyuan_video", "hv_train", SwapSplit::halves_1, 1},
    {"hunyuan_video_1_5", "hv_1_5_train", SwapSplit::one_list, 3},
    {"ideogram4", "ideogram4_train", SwapSplit::one_list, 1, true, 33},
    {"krea2", "krea2_train", SwapSplit::one_list, 2, false},
    {"qwen_image", "qwen_image_train", SwapSplit::one_list, 1},
    {"wan", "wan_train", SwapSplit::one_list, 1},
    {"zimage", "zimage_train", SwapSplit::one_list, 2},
};

bool trains_any(const BlockTable& table) {
  return !std::all_of(table.rows.begin(), table.rows.end(), is_frozen);
}

Bytes largest_weights(const BlockTable& table, Range blocks) {
  Bytes largest;
  for (std::uint32_t i = blocks.begin; i < blocks.end; ++i)
    largest = std::max(largest, table.rows[i].sizes.weight);
  return largest;
}

class MusubiReading {
 public:
  MusubiReading(const KohyaFamily& family, const Options& options, const BlockTable& table)
      : family_(family), options_(options), table_(table) {}

  Meaning read() {
    const bool checkpoints = options_.flag(checkpointed, false);
    Settings settings;
    settings.policy = checkpoints ? Policy::recompute : Policy::keep;
    settings.transfer.prefetch = 0;
    meaning_.plan = expand(table_, settings).plan;
    read_cpu_offload(checkpoints);
    read_swap(checkpoints);
    return std::move(meaning_);
  }

 private:
  void warn(std::string_view key, const std::string& text) {
    meaning_.warnings.push_back(std::string(key) + ": " + text);
  }

  void read_cpu_offload(bool checkpoints) {
    if (!options_.flag(checkpoints_on_cpu, false)) return;
    if (!checkpoints) return warn(checkpoints_on_cpu, "has no effect without gradient_checkpointing");
    if (!family_.cpu_offload) return warn(checkpoints_on_cpu, "has no effect: this model does not read it");
    offload_checkpoints(meaning_, table_);
  }

  void read_swap(bool checkpoints) {
    const bool streams = options_.flag(h2d_only, false);
    const std::int64_t ring = options_.count_or(ring_size, default_ring);
    const std::int64_t blocks = options_.count_or(to_swap, 0);
    if (blocks == 0) {
      if (streams) warn(h2d_only, "has no effect without blocks_to_swap");
      return;
    }
    if (streams && !checkpoints) refuse_option(h2d_only, "requires gradient_checkpointing for training");
    if (streams && ring < 1) refuse_option(ring_size, "must be >= 1");
    if (streams && trains_any(table_)) refuse_option(h2d_only, "requires frozen base weights");
    const std::vector<Away> lists = away_of(family_, table_, blocks);
    streams ? stream(lists, ring) : rotate(meaning_, lists);
    if (options_.flag(pinned, false)) return;
    meaning_.overhead.pageable = true;
    meaning_.readings.push_back(
        "without use_pinned_memory_for_block_swap copies are counted at the pace of "
        "pageable memory, beside the compute");
  }

  // Blocks that come through a ring of buffers, evenly spread, one ring for each list. The plan has one
  // buffer less than a ring between the blocks that use it, and one ring for all.
  void stream(const std::vector<Away>& lists, std::int64_t ring) {
    std::int64_t buffers = ring;
    std::optional<Bytes> smallest;
    for (const Away& list : lists) {
      if (list.count == 0) continue;
      spread(meaning_.plan, list.blocks, list.count, Residence::h2d);
      const Bytes weights = largest_weights(table_, list.blocks);
      smallest = std::min(smallest.value_or(weights), weights);
      buffers = std::min(buffers, list.count);
      for (std::int64_t i = 0; i < std::min(ring, list.count); ++i) meaning_.overhead.device += weights;
    }
    for (std::int64_t i = 1; i < buffers; ++i) meaning_.overhead.device -= *smallest;
    meaning_.plan.transfer.prefetch = buffers - 1;
    meaning_.readings.push_back(
        "counted with a block's weights more on the device: buffers of the ring stay between blocks");
  }

  const KohyaFamily& family_;
  const OptionReader options_;
  const BlockTable& table_;
  Meaning meaning_;
};

class Musubi final : public Dialect {
 public:
  explicit Musubi(const std::string& family) : family_(family_in(musubi_families, family)) {}

  Meaning meaning(const Options& options, const BlockTable& table) const override {
    return MusubiReading(family_, options, table).read();
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const auto key = [](std::string_view name) { return std::string(name); };
    std::vector<Options> bases{{}, {{key(checkpointed), true}}};
    if (family_.cpu_offload) bases.push_back({{key(checkpointed), true}, {key(checkpoints_on_cpu), true}});
    std::vector<Options> all = bases;
    const std::int64_t most = most_away(family_, table);
    for (const Options& base : bases)
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        Options swapping = base;
        swapping[key(to_swap)] = blocks;
        swapping[key(pinned)] = true;
        all.push_back(swapping);
        if (base.empty() || trains_any(table)) continue;
        swapping[key(h2d_only)] = true;
        all.push_back(swapping);
        swapping[key(ring_size)] = std::int64_t{1};
        all.push_back(swapping);
      }
    return all;
  }

 private:
  const KohyaFamily& family_;
};

// A configuration in TOML does not say which script reads it.
std::string musubi_family(const ConfigText& config, ConfigFormat format) {
  return format == ConfigFormat::flags ? family_of_script(musubi_families, config.text()) : "";
}

}  // namespace

Trainer musubi_tuner() {
  return {
      "musubi",
      "musubi-tuner",
      "the script of a family",
      [] { return names_of(musubi_families); },
      [](const std::string& family) -> std::unique_ptr<Dialect> { return std::make_unique<Musubi>(family); },
      {{ConfigFormat::flags, ConfigFormat::flat_toml}, musubi_keys, path_by_key, musubi_family}};
}

}  // namespace stowage
