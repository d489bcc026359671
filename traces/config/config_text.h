// A configuration file as text, of which single values are read and changed and everything else stays:
// comments, order, and the last space.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace stowage {

using ConfigValue = std::variant<bool, std::int64_t, double, std::string>;

// As words and numbers are written bare: true, 12, 0.5, full.
std::string bare_text(const ConfigValue& value);
// In double quotes, as JSON, TOML and YAML read it.
std::string quoted_word(const std::string& word);
// The value that a bare word says: true, false, a whole number, a number, or else the word.
ConfigValue value_of_word(const std::string& word);

// `flags` are of a shell script, or arguments alone: "--key value", and "--key" for a switch that is on.
// `assignments` are the same as "--key=value". `flat_toml` takes a key from whichever table has it. `env` is
// lines of KEY=value.
enum class ConfigFormat : std::uint8_t { json, toml, flat_toml, yaml, flags, assignments, env };
inline constexpr std::array<std::string_view, 7> config_format_names = {"json",  "toml",  "toml", "yaml",
                                                                        "flags", "flags", "env"};

class ConfigText {
 public:
  virtual ~ConfigText() = default;
  // `path` is keys with dots between: "zero_optimization.offload_param.device". Absent: not there, or null.
  // Throws InputError with the path where the value is neither a switch, a number nor a word.
  virtual std::optional<ConfigValue> value(std::string_view path) const = 0;
  // What is new goes to the end of its table, and is written as what is there. Both throw InputError where
  // the text is written so that it cannot be changed in place.
  void set(std::string_view path, const ConfigValue& value);
  // Nothing where it is not there.
  void erase(std::string_view path);
  virtual std::string text() const = 0;

 private:
  virtual void put(std::string_view path, const ConfigValue& value) = 0;
  // What is there, or the last of several.
  virtual void drop(std::string_view path) = 0;
};

// An empty text is an empty configuration. Throws InputError where the text is not of the format.
std::unique_ptr<ConfigText> config_text(ConfigFormat format, std::string text);

std::unique_ptr<ConfigText> json_config(std::string text);
std::unique_ptr<ConfigText> toml_config(std::string text, bool flat);
std::unique_ptr<ConfigText> yaml_config(std::string text);
// Both spellings are read; what is new is written in the one that is asked for.
std::unique_ptr<ConfigText> flags_config(std::string text, bool assigned);
// The path "KEY:flag" is a flag among the arguments that KEY holds.
std::unique_ptr<ConfigText> env_config(std::string text);

}  // namespace stowage
