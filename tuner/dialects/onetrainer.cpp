#include "tuner/dialects/onetrainer.h"

#include <algorithm>
#include <array>

#include "tuner/dialects/option_reader.h"
#include "tuner/dialects/rotation.h"
#include "tuner/settings_space.h"

namespace stowage {
namespace {

// Of the part of the model that is trained, since version 11 of the configuration; before it the same for all
// parts, under names of its own (modules/util/config/TrainConfig.py, __migration_10).
constexpr std::string_view part_checkpoints = "gradient_checkpointing";
constexpr std::string_view part_offloads = "activation_offloading";
constexpr std::string_view part_fraction = "offload_fraction";
constexpr std::string_view asynchronous = "async_offloading";
constexpr std::string_view old_mode = "gradient_checkpointing_mode";
constexpr std::string_view old_activations = "enable_activation_offloading";
constexpr std::string_view old_fraction = "layer_offload_fraction";
constexpr std::string_view old_asynchronous = "enable_async_offloading";
constexpr std::array onetrainer_keys{part_checkpoints, part_offloads,   part_fraction, asynchronous,
                                     old_mode,         old_activations, old_fraction,  old_asynchronous};

constexpr double steps_of_fraction = 20;  // fractions that are tried: 0.05, 0.1, ...

struct OneTrainerChoice {
  bool checkpoints = true, offloads = false, asynchronous = true;
  double fraction = 0;
};

OneTrainerChoice choice_of(const OptionReader& read) {
  OneTrainerChoice choice;
  if (const auto mode = read.word(old_mode)) {
    if (*mode != "OFF" && *mode != "ON" && *mode != "CPU_OFFLOADED" && *mode != "true" && *mode != "false")
      refuse_option(part_checkpoints, "expected OFF, ON or CPU_OFFLOADED");
    const bool away = *mode == "CPU_OFFLOADED";
    choice.checkpoints = *mode != "OFF" && *mode != "false";
    choice.offloads = away && read.flag(old_activations, true);
    choice.fraction = away ? read.number(old_fraction, 0, 1).value_or(0) : 0;
    choice.asynchronous = read.flag(old_asynchronous, true);
    return choice;
  }
  choice.checkpoints = read.flag(part_checkpoints, true);
  choice.offloads = read.flag(part_offloads, false);
  choice.fraction = read.number(part_fraction, 0, 1).value_or(0);
  choice.asynchronous = read.flag(asynchronous, true);
  return choice;
}

// How many blocks can be on the device at once: of consecutive ones the fewest that fit, and two at least
// (modules/util/LayerOffloadConductor.py, LayerOffloadStrategy).
std::int64_t loaded(const BlockTable& table, double fraction) {
  Bytes total;
  for (const BlockRow& row : table.rows) total += row.sizes.weight;
  const auto most = static_cast<std::int64_t>(static_cast<double>(total.value) * (1.0 - fraction));
  std::int64_t fewest = table.size();
  for (std::uint32_t first = 0; first < table.size(); ++first) {
    std::int64_t count = 0;
    Bytes taken;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      taken += table.rows[(first + i) % table.size()].sizes.weight;
      if (taken.value > most && count >= 2) break;
      ++count;
    }
    fewest = std::min(fewest, count);
  }
  return fewest;
}

bool equal_weights(const BlockTable& table) {
  for (const BlockRow& row : table.rows)
    if (row.sizes.weight != table.rows.front().sizes.weight) return false;
  return true;
}

class OneTrainer final : public Dialect {
 public:
  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OneTrainerChoice choice = choice_of(OptionReader(options));
    if (!choice.checkpoints && (choice.offloads || choice.fraction > 0))
      refuse_option(part_checkpoints, "offloading requires gradient checkpointing");
    Settings settings;
    if (choice.checkpoints) settings.policy = choice.offloads ? Policy::recompute_offload : Policy::recompute;
    settings.transfer.prefetch = choice.asynchronous ? 1 : 0;
    Meaning meaning;
    meaning.plan = expand(table, settings).plan;
    if (!choice.asynchronous && (choice.offloads || choice.fraction > 0))
      refuse_option(asynchronous, "what copies that everything waits for take is not known: expected true");
    if (choice.fraction > 0) take_turns(meaning, table, choice.fraction);
    const bool trains = !std::all_of(table.rows.begin(), table.rows.end(), is_frozen);
    if (choice.fraction > 0 && trains)
      meaning.readings.push_back(
          "a full fine-tune needs an optimizer with fused_back_pass for offload_fraction");
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const auto key = [](std::string_view name) { return std::string(name); };
    std::vector<Options> all{{{key(part_checkpoints), false}}};
    for (bool offloads : {false, true})
      for (int step = 0; step <= steps_of_fraction; ++step) {
        Options options{{key(part_checkpoints), true}};
        if (offloads) options[key(part_offloads)] = true;
        if (step > 0) options[key(part_fraction)] = step / steps_of_fraction;
        if (options.size() > 1) options[key(asynchronous)] = true;
        all.push_back(std::move(options));
        if (!equal_weights(table) && step == 0) break;
      }
    return all;
  }

 private:
  static void take_turns(Meaning& meaning, const BlockTable& table, double fraction) {
    if (!equal_weights(table))
      refuse_option(part_fraction,
                    "which blocks are there when their weights differ is not counted: expected 0");
    const std::int64_t count = loaded(table, fraction);
    rotate(meaning, {{{0, table.size()}, table.size() - count}});
  }
};

std::string onetrainer_part(const ConfigText& config) {
  for (const char* part : {"transformer", "unet", "prior"})
    if (config.value(std::string(part) + ".train") || config.value(std::string(part) + ".weight_dtype") ||
        config.value(std::string(part) + ".gradient_checkpointing") ||
        config.value(std::string(part) + ".offload_fraction"))
      return part;
  return "transformer";
}

// A word at the top is of a configuration before version 11.
bool is_old(const ConfigText& config) {
  for (std::string_view key : {part_checkpoints, old_activations, old_fraction, old_asynchronous})
    if (config.value(key)) return true;
  return false;
}

std::string onetrainer_path(const ConfigText& config, ConfigFormat, std::string_view key) {
  if (key == old_mode) return "gradient_checkpointing";
  const bool of_part = key == part_checkpoints || key == part_offloads || key == part_fraction;
  return of_part ? onetrainer_part(config) + "." + std::string(key) : std::string(key);
}

// An old configuration keeps its names.
Options onetrainer_spelled(const ConfigText& config, const Options& options) {
  if (!is_old(config)) return options;
  const OneTrainerChoice choice = choice_of(OptionReader(options));
  const bool away = choice.offloads || choice.fraction > 0;
  Options old{{std::string(old_mode), std::string(!choice.checkpoints ? "OFF"
                                                  : away              ? "CPU_OFFLOADED"
                                                                      : "ON")}};
  if (!away) return old;
  old[std::string(old_activations)] = choice.offloads;
  if (choice.fraction > 0) old[std::string(old_fraction)] = choice.fraction;
  return old;
}

}  // namespace

Trainer onetrainer() {
  return {"onetrainer",
          "OneTrainer",
          "",
          nullptr,
          [](const std::string&) -> std::unique_ptr<Dialect> { return std::make_unique<OneTrainer>(); },
          {{ConfigFormat::json}, onetrainer_keys, onetrainer_path, nullptr, nullptr, onetrainer_spelled}};
}

}  // namespace stowage
