#include "tuner/dialects/option_reader.h"

#include "traces/error.h"

namespace stowage {

void refuse_option(std::string_view key, const std::string& reason) {
  throw InputError("", std::string(key), reason);
}

const OptionValue* OptionReader::find(std::string_view key) const {
  const auto found = options_.find(std::string(key));
  if (found == options_.end()) return nullptr;
  const auto* text = std::get_if<std::string>(&found->second);
  return text && (text->empty() || *text == "None") ? nullptr : &found->second;
}

bool OptionReader::flag(std::string_view key, bool otherwise) const {
  const OptionValue* const value = find(key);
  if (!value) return otherwise;
  if (const bool* given = std::get_if<bool>(value)) return *given;
  const auto* text = std::get_if<std::string>(value);
  if (text && (*text == "true" || *text == "false")) return *text == "true";
  refuse_option(key, "expected true or false");
}

std::optional<std::int64_t> OptionReader::count(std::string_view key, const char* expected) const {
  const OptionValue* const value = find(key);
  if (!value) return {};
  if (const std::int64_t* given = std::get_if<std::int64_t>(value)) return *given;
  if (const auto* text = std::get_if<std::string>(value)) {
    const OptionValue read = value_of_word(*text);
    if (const std::int64_t* number = std::get_if<std::int64_t>(&read)) return *number;
  }
  refuse_option(key, expected);
}

std::int64_t OptionReader::count_or(std::string_view key, std::int64_t otherwise) const {
  const std::int64_t number = count(key).value_or(otherwise);
  if (number < 0) refuse_option(key, "expected 0 or more");
  return number;
}

std::optional<double> OptionReader::number(std::string_view key, double least, double most) const {
  const OptionValue* const value = find(key);
  if (!value) return {};
  std::optional<double> number;
  if (const double* given = std::get_if<double>(value)) number = *given;
  if (const std::int64_t* given = std::get_if<std::int64_t>(value)) number = static_cast<double>(*given);
  if (number && *number >= least && *number <= most) return number;
  refuse_option(key, "expected a number from " + bare_text(least) + " to " + bare_text(most));
}

std::optional<std::string> OptionReader::word(std::string_view key) const {
  const OptionValue* const value = find(key);
  if (!value) return {};
  return bare_text(*value);
}

}  // namespace stowage
