#include "tuner/dialects/simpletuner.h"

#include <algorithm>
#include <array>
#include <optional>

#include "traces/error.h"
#include "tuner/dialects/option_reader.h"
#include "tuner/dialects/simpletuner_family.h"
#include "tuner/settings_space.h"

namespace stowage {
namespace {

constexpr std::string_view checkpointing = "gradient_checkpointing";
constexpr std::string_view backend = "gradient_checkpointing_backend";
constexpr std::string_view interval = "gradient_checkpointing_interval";
constexpr std::string_view stride = "gradient_checkpointing_segment_stride";
constexpr std::string_view offload_attention = "gradient_checkpointing_offload_attention";
constexpr std::string_view max_buckets = "gradient_checkpointing_offload_pin_memory_max_buckets";
constexpr std::string_view prefetch = "gradient_checkpointing_offload_prefetch";
constexpr std::string_view swap_blocks = "musubi_blocks_to_swap";
constexpr std::string_view ramtorch = "ramtorch";
constexpr std::string_view ramtorch_percent = "ramtorch_transformer_percent";
constexpr std::string_view group_offload = "enable_group_offload";

constexpr std::array all_keys{checkpointing,     backend,          interval,     stride,
                              offload_attention, max_buckets,      prefetch,     swap_blocks,
                              ramtorch,          ramtorch_percent, group_offload};

constexpr std::array<std::string_view, 4> backends = {"torch", "unsloth", "torch-ffn", "unsloth-ffn"};
constexpr std::int64_t default_buckets = 12;
constexpr std::int64_t h2d_streams = 4, d2h_streams = 2;
// Streamed layers whose weights stay from the forward pass to the backward.
constexpr std::int64_t preserved_layers = 2;

bool any_trained_weights(const BlockTable& table) {
  return !std::all_of(table.rows.begin(), table.rows.end(), is_frozen);
}

bool streams_layers(const BlockTable& table) {
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (streamed_layers(table, i) == 0) return false;
  return true;
}

bool knows_ffn_time(const BlockTable& table) {
  return std::all_of(table.rows.begin(), table.rows.end(), [](const BlockRow& row) {
    return row.scope_forward[static_cast<std::size_t>(Scope::ffn)].has_value();
  });
}

// The options, one mechanism after the other, as the trainer reads them.
class SimpleTunerReading {
 public:
  SimpleTunerReading(const SimpleTunerFamily& family, const Options& options, const BlockTable& table)
      : family_(family), options_(options), table_(table) {}

  Meaning read() {
    if (options_.flag(group_offload, false))
      refuse_option(group_offload, "what it takes is not known: expected false");
    read_swap();
    read_ramtorch();
    read_attention();
    if (options_.flag(checkpointing, true)) read_checkpointing();
    meaning_.plan = expand(table_, settings_).plan;
    return std::move(meaning_);
  }

 private:
  void warn(std::string_view key, const std::string& text) {
    meaning_.warnings.push_back(std::string(key) + ": " + text);
  }

  // Each block's weights come before it runs, and nothing runs meanwhile.
  void read_swap() {
    std::int64_t blocks = options_.count(swap_blocks, "expected a whole number").value_or(0);
    if (blocks < 0) refuse_option(swap_blocks, "must be non-negative");
    const std::int64_t most = std::int64_t{table_.size()} - 1;
    if (blocks > 0 && !family_.swaps) {
      warn(swap_blocks, "has no effect: it does not reach this family's model");
      blocks = 0;
    }
    if (blocks > 0 && any_trained_weights(table_)) {
      warn(swap_blocks, "has no effect: weights that are trained never leave the accelerator");
      blocks = 0;
    }
    if (blocks > most) {
      warn(swap_blocks, "more than " + std::to_string(most) + ", which is used");
      blocks = most;
    }
    if (blocks > 0) settings_.swap = {blocks, SwapWhich::last, SwapMode::h2d};
    settings_.transfer.prefetch = 0;
  }

  void read_ramtorch() {
    if (!options_.flag(ramtorch, false)) return;
    if (settings_.swap.blocks > 0)
      refuse_option(ramtorch, "cannot be used together with musubi_blocks_to_swap");
    const std::int64_t percent = options_.count(ramtorch_percent, "expected 0 to 100").value_or(100);
    if (percent < 0 || percent > 100) refuse_option(ramtorch_percent, "expected 0 to 100");
    if (percent == 0) return;
    if (percent < 100)
      refuse_option(ramtorch_percent, "what a part of the layers takes is not known: expected 100");
    settings_.swap = {table_.size(), SwapWhich::last, SwapMode::stream, preserved_layers};
    settings_.transfer.prefetch = 1;
  }

  void read_attention() {
    const bool prefetches = options_.flag(prefetch, false);
    if (!options_.flag(offload_attention, false)) {
      if (prefetches) warn(prefetch, "is off without gradient_checkpointing_offload_attention");
      return;
    }
    if (!family_.attention_offload)
      refuse_option(offload_attention, "requires a model with an attention/FFN checkpointing boundary");
    if (options_.flag(checkpointing, true))
      refuse_option(offload_attention, "what it takes together with gradient_checkpointing is not known");
    const std::int64_t buckets =
        options_.count(max_buckets, "must be a non-negative integer").value_or(default_buckets);
    if (buckets < 0) refuse_option(max_buckets, "must be non-negative");
    settings_.policy = Policy::offload;
    settings_.scope = Scope::attention;
    TransferSettings& transfer = settings_.transfer;
    transfer.max_buckets = buckets;
    transfer.h2d_streams = h2d_streams;
    transfer.d2h_streams = d2h_streams;
    if (!prefetches) return;
    if (settings_.swap.blocks > 0)
      warn(prefetch, "is counted as off: swapped weights come when they are needed, and share the link");
    else
      transfer.prefetch = 1;
  }

  void read_checkpointing() {
    const std::string_view name = read_backend();
    settings_.policy = name.starts_with("unsloth") ? Policy::recompute_offload : Policy::recompute;
    if (name.ends_with("-ffn")) {
      if (!family_.ffn_backends) refuse_option(backend, "requires FFN-only checkpointing support");
      settings_.scope = Scope::ffn;
    }
    choose_blocks(read_interval(), read_stride());
  }

  std::string_view read_backend() {
    const std::optional<std::string> word = options_.word(backend);
    if (!word) return backends.front();
    const auto found = std::find(backends.begin(), backends.end(), *word);
    if (found == backends.end()) {
      warn(backend, "is none of torch, unsloth, torch-ffn, unsloth-ffn; torch is used");
      return backends.front();
    }
    if (!family_.backends && *found != backends.front()) {
      warn(backend, "has no effect: this family checkpoints with torch");
      return backends.front();
    }
    return *found;
  }

  std::optional<std::int64_t> read_interval() {
    const auto given = options_.count(interval, "must be a positive integer");
    if (given && *given <= 0) refuse_option(interval, "must be greater than 0");
    if (!given || *given == 1) return {};
    if (family_.intervals != Intervals::none) return given;
    warn(interval, "has no effect: this family checkpoints all blocks or none");
    return {};
  }

  std::optional<std::int64_t> read_stride() {
    const auto given = options_.count(stride, "must be a positive integer");
    if (given && *given <= 0) refuse_option(stride, "must be a positive integer");
    if (!given) return {};
    if (family_.intervals == Intervals::none) {
      warn(stride, "has no effect: this family checkpoints all blocks or none");
      return {};
    }
    return given;
  }

  void choose_blocks(std::optional<std::int64_t> every, std::optional<std::int64_t> period) {
    if (!every) {
      if (period) warn(stride, "is ignored without gradient_checkpointing_interval");
      return;
    }
    if (period && *period < *every) refuse_option(stride, "must be at least the checkpointing interval");
    const bool swapping = settings_.swap.blocks > 0 && settings_.swap.mode != SwapMode::stream;
    const bool in_segments = family_.intervals == Intervals::segments && !settings_.scope &&
                             (!swapping || family_.segments_while_swapping);
    if (in_segments) {
      settings_.interval = *every;
      settings_.stride = period;
      return;
    }
    choose_single_blocks(*every, period);
  }

  void choose_single_blocks(std::int64_t every, std::optional<std::int64_t> period) {
    const bool asked = family_.intervals == Intervals::segments;
    if (family_.single_blocks == SingleBlocks::all) {
      warn(interval, "has no effect here: without segments this family checkpoints every block");
      return;
    }
    if (asked) warn(interval, "makes no segments here: single blocks are checkpointed");
    settings_.segmenting = Segmenting::every_nth;
    settings_.interval = every;
    if (family_.single_blocks == SingleBlocks::by_stride)
      settings_.stride = period;
    else if (period)
      warn(stride, "is ignored for single blocks");
  }

  const SimpleTunerFamily& family_;
  const OptionReader options_;
  const BlockTable& table_;
  Settings settings_;
  Meaning meaning_;
};

const SimpleTunerFamily& known(const std::string& name) {
  if (const SimpleTunerFamily* family = find_simpletuner_family(name)) return *family;
  refuse_family("model_family", name, simpletuner_family_names());
}

class SimpleTuner final : public Dialect {
 public:
  explicit SimpleTuner(const std::string& family) : family_(known(family)) {}

  Meaning meaning(const Options& options, const BlockTable& table) const override {
    return SimpleTunerReading(family_, options, table).read();
  }
  std::vector<Options> shapes(const BlockTable& table) const override;
  std::int64_t most_swapped(const Options& options, const BlockTable& table) const override;
  void swap(Options& options, std::int64_t blocks) const override {
    options.insert_or_assign(std::string(swap_blocks), blocks);
  }

 private:
  const SimpleTunerFamily& family_;
};

std::vector<Options> SimpleTuner::shapes(const BlockTable& table) const {
  std::vector<Options> all;
  const auto add = [&](std::initializer_list<std::pair<std::string_view, OptionValue>> options) {
    Options& made = all.emplace_back();
    for (const auto& [key, value] : options) made.emplace(key, value);
  };
  add({{checkpointing, false}});
  if (family_.attention_offload)
    for (bool prefetches : {false, true})
      add({{checkpointing, false}, {offload_attention, true}, {prefetch, prefetches}});
  const std::int64_t n = table.size();
  for (std::string_view name : backends) {
    const bool of_ffn = name.ends_with("-ffn");
    if (of_ffn && !(family_.ffn_backends && knows_ffn_time(table))) continue;
    if (!family_.backends && name != backends.front()) continue;
    const OptionValue named{std::string(name)};
    add({{checkpointing, true}, {backend, named}});
    if (family_.intervals == Intervals::none) continue;
    for (std::int64_t every = 2; every <= n; ++every) {
      add({{checkpointing, true}, {backend, named}, {interval, every}});
      for (std::int64_t period = every + 1; period <= n; ++period)
        add({{checkpointing, true}, {backend, named}, {interval, every}, {stride, period}});
    }
  }
  if (streams_layers(table) && !any_trained_weights(table)) add({{checkpointing, true}, {ramtorch, true}});
  return all;
}

std::int64_t SimpleTuner::most_swapped(const Options& options, const BlockTable& table) const {
  if (!family_.swaps || any_trained_weights(table)) return 0;
  const OptionReader read(options);
  if (read.flag(ramtorch, false) || read.flag(prefetch, false)) return 0;
  return std::int64_t{table.size()} - 1;
}

// Variables of config.env; what has none goes to TRAINER_EXTRA_ARGS.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> variables = {{
    {"model_family", "MODEL_FAMILY"},
    {checkpointing, "USE_GRADIENT_CHECKPOINTING"},
    {offload_attention, "GRADIENT_CHECKPOINTING_OFFLOAD_ATTENTION"},
    {prefetch, "GRADIENT_CHECKPOINTING_OFFLOAD_PREFETCH"},
    {max_buckets, "GRADIENT_CHECKPOINTING_OFFLOAD_PIN_MEMORY_MAX_BUCKETS"},
    {stride, "GRADIENT_CHECKPOINTING_SEGMENT_STRIDE"},
}};

std::string simpletuner_path(const ConfigText& config, ConfigFormat format, std::string_view key) {
  const std::string plain(key);
  if (format == ConfigFormat::assignments) return plain;
  if (format == ConfigFormat::json) {
    if (config.value(plain)) return plain;
    const auto dashes = [&](std::string_view option) {
      return config.value("--" + std::string(option)).has_value();
    };
    const bool any = dashes(key) || dashes("model_family") || std::ranges::any_of(all_keys, dashes);
    return (any ? "--" : "") + plain;
  }
  for (const auto& [option, variable] : variables)
    if (option == key) return std::string(variable);
  return "TRAINER_EXTRA_ARGS:" + plain;
}

std::string simpletuner_family_in(const ConfigText& config, ConfigFormat format) {
  const auto family = config.value(simpletuner_path(config, format, "model_family"));
  return family ? bare_text(*family) : "";
}

}  // namespace

Trainer simpletuner() {
  return {"simpletuner",
          "SimpleTuner",
          "model_family",
          simpletuner_family_names,
          [](const std::string& family) -> std::unique_ptr<Dialect> {
            return std::make_unique<SimpleTuner>(family);
          },
          {{ConfigFormat::json, ConfigFormat::assignments, ConfigFormat::env},
           all_keys,
           simpletuner_path,
           simpletuner_family_in}};
}

}  // namespace stowage
