#include "cli/setting_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "cli/quantity.h"
#include "plan/names.h"

namespace stowage {
namespace {

using Value = std::optional<std::int64_t>;

template <class Enumeration>
Value position(Enumeration value) {
  return static_cast<std::int64_t>(value);
}

constexpr SettingFlag table[] = {
    {"--policy", "policy", ChoiceValue{policy_names}, "What becomes of activations",
     [](const Settings& s) { return position(s.policy); },
     [](Settings& s, std::int64_t v) { s.policy = static_cast<Policy>(v); }},
    {"--interval", "interval", CountValue{1}, "Blocks in a segment",
     [](const Settings& s) -> Value { return s.interval; },
     [](Settings& s, std::int64_t v) { s.interval = v; }},
    {"--stride", "stride", CountValue{1}, "From one segment's first block to the next one's (the interval)",
     [](const Settings& s) -> Value { return s.stride; }, [](Settings& s, std::int64_t v) { s.stride = v; }},
    {"--segmenting", "segmenting", ChoiceValue{segmenting_names}, "Segments, or every n-th block by itself",
     [](const Settings& s) { return position(s.segmenting); },
     [](Settings& s, std::int64_t v) { s.segmenting = static_cast<Segmenting>(v); }},
    {"--scope", "scope", ChoiceValue{scope_names}, "Recompute or offload this scope of a block only",
     [](const Settings& s) { return s.scope ? position(*s.scope) : Value{}; },
     [](Settings& s, std::int64_t v) { s.scope = static_cast<Scope>(v); }},
    {"--swap-blocks", "swap_blocks", CountValue{0}, "Blocks whose weights live on the host",
     [](const Settings& s) -> Value { return s.swap.blocks; },
     [](Settings& s, std::int64_t v) { s.swap.blocks = v; }},
    {"--swap-which", "swap_which", ChoiceValue{swap_which_names}, "Which blocks these are",
     [](const Settings& s) { return position(s.swap.which); },
     [](Settings& s, std::int64_t v) { s.swap.which = static_cast<SwapWhich>(v); }},
    {"--swap-mode", "swap_mode", ChoiceValue{swap_mode_names},
     "Drop weights after use, store them, or stream layers",
     [](const Settings& s) { return position(s.swap.mode); },
     [](Settings& s, std::int64_t v) { s.swap.mode = static_cast<SwapMode>(v); }},
    {"--swap-keep", "swap_keep", CountValue{0}, "Streamed layers, the last ones, that stay for the backward",
     [](const Settings& s) -> Value { return s.swap.keep; },
     [](Settings& s, std::int64_t v) { s.swap.keep = v; }},
    {"--swap-keep-max", "swap_keep_max_bytes", SizeValue{}, "Device memory for these at most",
     [](const Settings& s) { return s.swap.keep_max ? Value(s.swap.keep_max->value) : std::nullopt; },
     [](Settings& s, std::int64_t v) { s.swap.keep_max = Bytes{v}; }},
    {"--prefetch", "prefetch", CountValue{0}, "Copies back that are issued ahead of the one in use",
     [](const Settings& s) -> Value { return s.transfer.prefetch; },
     [](Settings& s, std::int64_t v) { s.transfer.prefetch = v; }},
    {"--h2d-streams", "h2d_streams", CountValue{1}, "Streams for copies to the device",
     [](const Settings& s) -> Value { return s.transfer.h2d_streams; },
     [](Settings& s, std::int64_t v) { s.transfer.h2d_streams = v; }},
    {"--d2h-streams", "d2h_streams", CountValue{1}, "Streams for copies to the host",
     [](const Settings& s) -> Value { return s.transfer.d2h_streams; },
     [](Settings& s, std::int64_t v) { s.transfer.d2h_streams = v; }},
    {"--max-buckets", "max_buckets", CountValue{0}, "Classes of pinned buffers at most",
     [](const Settings& s) -> Value { return s.transfer.max_buckets; },
     [](Settings& s, std::int64_t v) { s.transfer.max_buckets = v; }},
    {"--pinned-max", "pinned_max_bytes", SizeValue{}, "Pinned host memory at most",
     [](const Settings& s) {
       return s.transfer.pinned_max ? Value(s.transfer.pinned_max->value) : std::nullopt;
     },
     [](Settings& s, std::int64_t v) { s.transfer.pinned_max = Bytes{v}; }},
    {"--disk-over", "disk_over_bytes", SizeValue{}, "Offloaded activations over this go on to the disk",
     [](const Settings& s) {
       return s.transfer.disk_over ? Value(s.transfer.disk_over->value) : std::nullopt;
     },
     [](Settings& s, std::int64_t v) { s.transfer.disk_over = Bytes{v}; }},
    {"--accumulate", "accumulate", CountValue{1}, "Micro-batches before the optimizer runs",
     [](const Settings& s) -> Value { return s.step.accumulate; },
     [](Settings& s, std::int64_t v) { s.step.accumulate = v; }},
    {"--optimizer", "optimizer", ChoiceValue{optimizer_names}, "Where optimizer states live, and it runs",
     [](const Settings& s) { return position(s.step.optimizer); },
     [](Settings& s, std::int64_t v) { s.step.optimizer = static_cast<OptimizerPlace>(v); }},
};

std::string joined(std::span<const std::string_view> names, const char* between) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : between) + std::string(name);
  return text;
}

std::string type_of(const SettingFlag& setting) {
  if (const auto* choice = std::get_if<ChoiceValue>(&setting.value)) return joined(choice->names, "|");
  if (const auto* count = std::get_if<CountValue>(&setting.value))
    return "COUNT>=" + std::to_string(count->least);
  return "SIZE";
}

std::int64_t parse_choice(const SettingFlag& setting, const ChoiceValue& choice, const std::string& text) {
  const auto found = std::find(choice.names.begin(), choice.names.end(), text);
  if (found == choice.names.end())
    throw InputError(setting.flag, "",
                     "expected one of " + joined(choice.names, ", ") + ", not \"" + text + "\"");
  return found - choice.names.begin();
}

std::int64_t parse_value(const SettingFlag& setting, const std::string& text) {
  if (const auto* choice = std::get_if<ChoiceValue>(&setting.value))
    return parse_choice(setting, *choice, text);
  if (const auto* count = std::get_if<CountValue>(&setting.value))
    return parse_count(setting.flag, text, count->least, std::numeric_limits<std::int64_t>::max());
  return parse_size(setting.flag, text).value;
}

}  // namespace

std::string value_text(const SettingFlag& setting, std::int64_t value) {
  const auto* choice = std::get_if<ChoiceValue>(&setting.value);
  return choice ? std::string(choice->names[static_cast<std::size_t>(value)]) : std::to_string(value);
}

std::span<const SettingFlag> setting_flags() {
  return table;
}

InputError told_of_flag(const InputError& error) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const SettingFlag& setting) { return setting.key == error.path(); });
  const bool ours = error.source().empty() && found != std::end(table);
  return ours ? InputError(found->flag, "", error.reason()) : error;
}

std::string flags_of(const Settings& settings) {
  std::string text;
  for (const SettingFlag& setting : table) {
    const Value value = setting.get(settings);
    if (!value || value == setting.get(Settings{})) continue;
    text += (text.empty() ? "" : " ") + std::string(setting.flag) + " " + value_text(setting, *value);
  }
  return text.empty() ? "--policy keep" : text;
}

void GivenSettings::declare(CLI::App& app) {
  for (const SettingFlag& setting : table) {
    const auto take = [this, &setting](const std::string& text) {
      setting.set(settings_, parse_value(setting, text));
      if (first_.empty()) first_ = setting.flag;
    };
    app.add_option_function<std::string>(setting.flag, take, setting.help)
        ->type_name(type_of(setting))
        ->group("Settings");
  }
}

Settings GivenSettings::settings() const {
  try {
    check(settings_);
  } catch (const InputError& error) {
    throw told_of_flag(error);
  }
  return settings_;
}

}  // namespace stowage
