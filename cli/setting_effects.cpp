#include "cli/setting_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tuner/pricer.h"

namespace stowage {
namespace {

// Values of counts that are tried: from the least up to this, or to the number of blocks.
struct Tried {
  std::string_view key;
  std::optional<std::int64_t> most;  // absent: the number of blocks
};
constexpr std::array<Tried, 6> counts = {{{"interval", {}},
                                          {"stride", {}},
                                          {"swap_blocks", {}},
                                          {"prefetch", 8},
                                          {"h2d_streams", 2},
                                          {"d2h_streams", 2}}};
// Of choices all values are tried. A swap's mode follows from whether its blocks train.
constexpr std::array<std::string_view, 4> choices = {"policy", "segmenting", "scope", "swap_which"};

std::vector<Settings> others_of(const SettingFlag& setting, const Settings& settings, std::int64_t blocks) {
  std::vector<std::int64_t> values;
  if (const auto* choice = std::get_if<ChoiceValue>(&setting.value)) {
    if (std::find(choices.begin(), choices.end(), setting.key) != choices.end())
      for (std::size_t i = 0; i < choice->names.size(); ++i) values.push_back(static_cast<std::int64_t>(i));
  } else if (const auto* count = std::get_if<CountValue>(&setting.value)) {
    const auto tried = std::find_if(counts.begin(), counts.end(),
                                    [&](const Tried& each) { return each.key == setting.key; });
    if (tried != counts.end())
      for (std::int64_t v = count->least; v <= tried->most.value_or(blocks); ++v) values.push_back(v);
  }
  std::vector<Settings> others;
  for (const std::int64_t value : values) {
    if (setting.get(settings) == value) continue;
    others.push_back(settings);
    setting.set(others.back(), value);
  }
  if (settings.scope && std::string_view(setting.key) == "scope") {
    others.push_back(settings);
    others.back().scope.reset();
  }
  return others;
}

// Nothing where the settings contradict each other, or the profile cannot carry them out.
std::optional<Run> price_if_allowed(Pricer& pricer, const BlockTable& table, const Settings& settings) {
  try {
    check(settings);
    return pricer.price(expand(table, settings).plan);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

std::vector<SettingEffect> setting_effects(const BlockTable& table, const Machine& machine,
                                           const Budget& budget, const Settings& settings) {
  Pricer pricer(table, machine);
  const Run now = pricer.price(settings);
  const bool fits_now = fits(now.peaks, budget);
  std::vector<SettingEffect> effects;
  for (const SettingFlag& setting : setting_flags()) {
    SettingEffect effect{&setting, {}, {}, false};
    const std::vector<Settings> others = others_of(setting, settings, table.size());
    for (const Settings& other : others) {
      const std::optional<Run> run = price_if_allowed(pricer, table, other);
      if (!run) continue;
      effect.matters |= run->step != now.step || run->peaks.on_device() != now.peaks.on_device();
      if (fits(run->peaks, budget) && (!fits_now || run->step < now.step) &&
          (!effect.fastest || run->step < effect.fastest->run.step))
        effect.fastest = {other, *run};
      const Bytes least = effect.smallest ? effect.smallest->run.peaks.on_device() : now.peaks.on_device();
      if (run->peaks.on_device() < least) effect.smallest = {other, *run};
    }
    if (!others.empty()) effects.push_back(std::move(effect));
  }
  return effects;
}

std::string changed_flag(const SettingFlag& setting, const Settings& settings) {
  const std::optional<std::int64_t> value = setting.get(settings);
  if (!value) return "no " + std::string(setting.flag);
  return std::string(setting.flag) + " " + value_text(setting, *value);
}

}  // namespace stowage
