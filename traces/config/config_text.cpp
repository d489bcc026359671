#include "traces/config/config_text.h"

#include <charconv>
#include <utility>

#include "traces/error.h"
#include "traces/json.h"

namespace stowage {
namespace {

template <class Number>
std::optional<Number> whole_number(const std::string& word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

std::string number_text(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  std::string written(text, end);
  if (written.find_first_of(".en") == std::string::npos) written += ".0";
  return written;
}

[[noreturn]] void refuse_place(std::string_view path) {
  throw InputError("", std::string(path), "stands where it cannot be changed: expected on a line of its own");
}

}  // namespace

std::string bare_text(const ConfigValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const double* number = std::get_if<double>(&value)) return number_text(*number);
  return std::get<std::string>(value);
}

std::string quoted_word(const std::string& word) {
  const std::string row = JsonWriter().begin_array().value(std::string_view(word)).end_array().text();
  return row.substr(row.find('"'), row.rfind('"') + 1 - row.find('"'));
}

ConfigValue value_of_word(const std::string& word) {
  if (word == "true" || word == "True" || word == "TRUE") return true;
  if (word == "false" || word == "False" || word == "FALSE") return false;
  if (const auto number = whole_number<std::int64_t>(word)) return *number;
  const bool numeric = !word.empty() && word.find_first_not_of("0123456789+-.eE_") == std::string::npos;
  if (numeric)
    if (const auto number = whole_number<double>(word)) return *number;
  return word;
}

void ConfigText::set(std::string_view path, const ConfigValue& value) {
  put(path, value);
  const std::optional<ConfigValue> there = this->value(path);
  const bool off = !there && value == ConfigValue(false);
  if (!off && there != std::optional(value)) refuse_place(path);
}

void ConfigText::erase(std::string_view path) {
  while (value(path)) {
    const std::size_t size = text().size();
    drop(path);
    if (text().size() >= size) refuse_place(path);
  }
}

std::unique_ptr<ConfigText> config_text(ConfigFormat format, std::string text) {
  switch (format) {
    case ConfigFormat::json:
      return json_config(std::move(text));
    case ConfigFormat::toml:
      return toml_config(std::move(text), false);
    case ConfigFormat::flat_toml:
      return toml_config(std::move(text), true);
    case ConfigFormat::yaml:
      return yaml_config(std::move(text));
    case ConfigFormat::flags:
      return flags_config(std::move(text), false);
    case ConfigFormat::assignments:
      return flags_config(std::move(text), true);
    case ConfigFormat::env:
      return env_config(std::move(text));
  }
  throw DefectError("a format of configurations that is not known");
}

}  // namespace stowage
