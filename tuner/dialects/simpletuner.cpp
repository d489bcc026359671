#include "tuner/dialects/simpletuner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "traces/error.h"
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

[[noreturn]] void refuse(std::string_view key, const std::string& reason) {
  throw InputError("", std::string(key), reason);
}

const OptionValue* find(const Options& options, std::string_view key) {
  const auto found = options.find(std::string(key));
  if (found == options.end()) return nullptr;
  const auto* text = std::get_if<std::string>(&found->second);
  return text && (text->empty() || *text == "None") ? nullptr : &found->second;
}

bool flag(const Options& options, std::string_view key, bool otherwise) {
  const OptionValue* const value = find(options, key);
  if (!value) return otherwise;
  if (const bool* given = std::get_if<bool>(value)) return *given;
  const auto* text = std::get_if<std::string>(value);
  if (text && (*text == "true" || *text == "false")) return *text == "true";
  refuse(key, "expected true or false");
}

std::optional<std::int64_t> count(const Options& options, std::string_view key, const char* expected) {
  const OptionValue* const value = find(options, key);
  if (!value) return {};
  if (const std::int64_t* given = std::get_if<std::int64_t>(value)) return *given;
  if (const auto* text = std::get_if<std::string>(value)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && end == text->data() + text->size()) return number;
  }
  refuse(key, expected);
}

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
class Reading {
 public:
  Reading(const SimpleTunerFamily& family, const Options& options, const BlockTable& table)
      : family_(family), options_(options), table_(table) {}

  Meaning read() {
    if (flag(options_, group_offload, false))
      refuse(group_offload, "what it takes is not known: expected false");
    read_swap();
    read_ramtorch();
    read_attention();
    if (flag(options_, checkpointing, true)) read_checkpointing();
    return std::move(meaning_);
  }

 private:
  Settings& settings() { return meaning_.settings; }
  void warn(std::string_view key, const std::string& text) {
    meaning_.warnings.push_back(std::string(key) + ": " + text);
  }

  // Each block's weights come before it runs, and nothing runs meanwhile.
  void read_swap() {
    std::int64_t blocks = count(options_, swap_blocks, "expected a whole number").value_or(0);
    if (blocks < 0) refuse(swap_blocks, "must be non-negative");
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
    if (blocks > 0) settings().swap = {blocks, SwapWhich::last, SwapMode::h2d};
    settings().transfer.prefetch = 0;
  }

  void read_ramtorch() {
    if (!flag(options_, ramtorch, false)) return;
    if (settings().swap.blocks > 0) refuse(ramtorch, "cannot be used together with musubi_blocks_to_swap");
    const std::int64_t percent = count(options_, ramtorch_percent, "expected 0 to 100").value_or(100);
    if (percent < 0 || percent > 100) refuse(ramtorch_percent, "expected 0 to 100");
    if (percent == 0) return;
    if (percent < 100) refuse(ramtorch_percent, "what a part of the layers takes is not known: expected 100");
    settings().swap = {table_.size(), SwapWhich::last, SwapMode::stream, preserved_layers};
    settings().transfer.prefetch = 1;
  }

  void read_attention() {
    const bool prefetches = flag(options_, prefetch, false);
    if (!flag(options_, offload_attention, false)) {
      if (prefetches) warn(prefetch, "is off without gradient_checkpointing_offload_attention");
      return;
    }
    if (!family_.attention_offload)
      refuse(offload_attention, "requires a model with an attention/FFN checkpointing boundary");
    if (flag(options_, checkpointing, true))
      refuse(offload_attention, "what it takes together with gradient_checkpointing is not known");
    const std::int64_t buckets =
        count(options_, max_buckets, "must be a non-negative integer").value_or(default_buckets);
    if (buckets < 0) refuse(max_buckets, "must be non-negative");
    settings().policy = Policy::offload;
    settings().scope = Scope::attention;
    TransferSettings& transfer = settings().transfer;
    transfer.max_buckets = buckets;
    transfer.h2d_streams = h2d_streams;
    transfer.d2h_streams = d2h_streams;
    if (!prefetches) return;
    if (settings().swap.blocks > 0)
      warn(prefetch, "is counted as off: swapped weights come when they are needed, and share the link");
    else
      transfer.prefetch = 1;
  }

  void read_checkpointing() {
    const std::string_view name = read_backend();
    settings().policy = name.starts_with("unsloth") ? Policy::recompute_offload : Policy::recompute;
    if (name.ends_with("-ffn")) {
      if (!family_.ffn_backends) refuse(backend, "requires FFN-only checkpointing support");
      settings().scope = Scope::ffn;
    }
    choose_blocks(read_interval(), read_stride());
  }

  std::string_view read_backend() {
    const OptionValue* const value = find(options_, backend);
    if (!value) return backends.front();
    const auto* text = std::get_if<std::string>(value);
    const auto found = std::find(backends.begin(), backends.end(), text ? *text : "");
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
    const auto given = count(options_, interval, "must be a positive integer");
    if (given && *given <= 0) refuse(interval, "must be greater than 0");
    if (!given || *given == 1) return {};
    if (family_.intervals != Intervals::none) return given;
    warn(interval, "has no effect: this family checkpoints all blocks or none");
    return {};
  }

  std::optional<std::int64_t> read_stride() {
    const auto given = count(options_, stride, "must be a positive integer");
    if (given && *given <= 0) refuse(stride, "must be a positive integer");
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
    if (period && *period < *every) refuse(stride, "must be at least the checkpointing interval");
    const bool swapping = settings().swap.blocks > 0 && settings().swap.mode != SwapMode::stream;
    const bool in_segments = family_.intervals == Intervals::segments && !settings().scope &&
                             (!swapping || family_.segments_while_swapping);
    if (in_segments) {
      settings().interval = *every;
      settings().stride = period;
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
    settings().segmenting = Segmenting::every_nth;
    settings().interval = every;
    if (family_.single_blocks == SingleBlocks::by_stride)
      settings().stride = period;
    else if (period)
      warn(stride, "is ignored for single blocks");
  }

  const SimpleTunerFamily& family_;
  const Options& options_;
  const BlockTable& table_;
  Meaning meaning_;
};

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const SimpleTunerFamily& known(const std::string& name) {
  if (const SimpleTunerFamily* family = find_simpletuner_family(name)) return *family;
  throw InputError("", "model_family",
                   "expected one of " + list(simpletuner_family_names()) + ", not \"" + name + "\"");
}

}  // namespace

SimpleTuner::SimpleTuner(const std::string& family) : family_(known(family)) {}

std::span<const std::string_view> SimpleTuner::keys() {
  return all_keys;
}

Meaning SimpleTuner::meaning(const Options& options, const BlockTable& table) const {
  return Reading(family_, options, table).read();
}

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
  if (flag(options, ramtorch, false) || flag(options, prefetch, false)) return 0;
  return std::int64_t{table.size()} - 1;
}

void SimpleTuner::swap(Options& options, std::int64_t blocks) const {
  options.insert_or_assign(std::string(swap_blocks), blocks);
}

}  // namespace stowage
