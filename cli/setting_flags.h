// The settings as flags. One table says of each: flag, key, unit or choices, range and help.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "plan/settings.h"
#include "traces/error.h"

namespace CLI {
class App;
}

namespace stowage {

struct CountValue {
  std::int64_t least;
};
struct SizeValue {};
struct ChoiceValue {
  std::span<const std::string_view> names;
};

// Every setting is one integer: a count, bytes, or the position among its choices.
struct SettingFlag {
  const char* flag;  // "--swap-blocks"
  const char* key;   // "swap_blocks", as in files
  std::variant<CountValue, SizeValue, ChoiceValue> value;
  const char* help;
  std::optional<std::int64_t> (*get)(const Settings&);
  void (*set)(Settings&, std::int64_t);
};

std::span<const SettingFlag> setting_flags();

// As it is written after the flag: "recompute", "4".
std::string value_text(const SettingFlag& setting, std::int64_t value);

// An error that names a setting by its key, told of its flag; others as they are.
InputError told_of_flag(const InputError& error);

// The flags that make these settings from the defaults: "--policy recompute --interval 2".
std::string flags_of(const Settings& settings);

// Settings as given on a command line.
class GivenSettings {
 public:
  void declare(CLI::App& app);

  bool any() const { return !first_.empty(); }
  const std::string& first() const { return first_; }  // the flag given first; "" where there is none
  // Defaults where nothing was given. Throws InputError naming the flag where settings contradict each other.
  Settings settings() const;

 private:
  Settings settings_;
  std::string first_;
};

}  // namespace stowage
