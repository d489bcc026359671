#include "tuner/dialects/sd_scripts.h"

#include <array>

#include "tuner/dialects/kohya_families.h"
#include "tuner/dialects/offloaded_checkpoints.h"
#include "tuner/dialects/option_reader.h"
#include "tuner/dialects/rotation.h"

namespace stowage {
namespace {

// library/train_util.py, train_network.py, anima_train_network.py
constexpr std::string_view checkpointing_on = "gradient_checkpointing";
constexpr std::string_view on_cpu = "cpu_offload_checkpointing";
constexpr std::string_view unsloth = "unsloth_offload_checkpointing";
constexpr std::string_view swapped_blocks = "blocks_to_swap";
constexpr std::array sd_scripts_keys{checkpointing_on, on_cpu, unsloth, swapped_blocks};

// Each enable_block_swap() of library/*_models.py.
constexpr KohyaFamily sd_scripts_families[] = {
    {"anima", "anima_train", SwapSplit::one_list, 2, false},
    {"chroma", "model_type chroma", SwapSplit::halves, 2, false},
    {"flux", "flux_train", SwapSplit::halves, 2},
    {"hunyuan_image", "hunyuan_image_train", SwapSplit::halves, 2},
    {"lumina", "lumina_train", SwapSplit::one_list, 2, false},
    {"sd3", "sd3_train", SwapSplit::one_list, 2, false},
    {"sdxl", "sdxl_train", SwapSplit::none, 0, false},
};

class SdScripts final : public Dialect {
 public:
  explicit SdScripts(const std::string& family) : family_(family_in(sd_scripts_families, family)) {}

  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OptionReader read(options);
    const std::int64_t blocks = read.count_or(swapped_blocks, 0);
    check_together(read, blocks);
    Meaning meaning;
    const bool checkpoints = read.flag(checkpointing_on, false);
    Settings settings;
    if (checkpoints)
      settings.policy =
          is_anima() && read.flag(unsloth, false) ? Policy::recompute_offload : Policy::recompute;
    settings.transfer.prefetch = 0;
    meaning.plan = expand(table, settings).plan;
    const auto warn = [&](std::string_view key, const char* text) {
      meaning.warnings.push_back(std::string(key) + ": " + text);
    };
    for (std::string_view key : {on_cpu, unsloth})
      if (read.flag(key, false) && !checkpoints) warn(key, "has no effect without gradient_checkpointing");
    if (read.flag(unsloth, false) && !is_anima()) warn(unsloth, "is no option of this model's script");
    if (read.flag(on_cpu, false) && checkpoints) read_on_cpu(meaning, table, warn);
    if (blocks > 0 && family_.split == SwapSplit::none) warn(swapped_blocks, "has no effect on this model");
    // One after the other, by way of memory that PyTorch's host allocator has pinned after the first step.
    rotate(meaning, away_of(family_, table, blocks));
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const auto on = [](std::string_view key) { return std::pair(std::string(key), OptionValue(true)); };
    std::vector<Options> all{{}, {on(checkpointing_on)}};
    if (family_.cpu_offload) all.push_back({on(checkpointing_on), on(on_cpu)});
    if (is_anima()) all.push_back({on(checkpointing_on), on(unsloth)});
    const std::int64_t most = most_away(family_, table);
    for (bool checkpoints : {false, true})
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        Options& swapping = all.emplace_back();
        swapping[std::string(swapped_blocks)] = blocks;
        if (checkpoints) swapping.insert(on(checkpointing_on));
      }
    return all;
  }

 private:
  bool is_anima() const { return family_.name == "anima"; }

  static void check_together(const OptionReader& read, std::int64_t blocks) {
    if (blocks > 0 && read.flag(on_cpu, false))
      refuse_option(swapped_blocks, "is not supported with cpu_offload_checkpointing");
    if (blocks > 0 && read.flag(unsloth, false))
      refuse_option(swapped_blocks, "is not supported with unsloth_offload_checkpointing");
    if (read.flag(unsloth, false) && read.flag(on_cpu, false))
      refuse_option(on_cpu, "cannot be used with unsloth_offload_checkpointing");
  }

  template <class Warn>
  void read_on_cpu(Meaning& meaning, const BlockTable& table, const Warn& warn) const {
    if (family_.cpu_offload) return offload_checkpoints(meaning, table);
    if (family_.name == "sd3" || family_.name == "sdxl")
      refuse_option(on_cpu, "this model's enable_gradient_checkpointing() does not take it");
    if (is_anima()) refuse_option(on_cpu, "what it takes in this model is not known: expected false");
    warn(on_cpu, "has no effect: this model's blocks do not read it");
  }

  const KohyaFamily& family_;
};

std::string sd_scripts_family(const ConfigText& config, ConfigFormat format) {
  if (const auto type = config.value("model_type"); type && bare_text(*type) == "chroma") return "chroma";
  return format == ConfigFormat::flags ? family_of_script(sd_scripts_families, config.text()) : "";
}

}  // namespace

Trainer sd_scripts() {
  return {"sd-scripts",
          "sd-scripts",
          "the script of a family",
          [] { return names_of(sd_scripts_families); },
          [](const std::string& family) -> std::unique_ptr<Dialect> {
            return std::make_unique<SdScripts>(family);
          },
          {{ConfigFormat::flags, ConfigFormat::flat_toml}, sd_scripts_keys, path_by_key, sd_scripts_family}};
}

}  // namespace stowage
