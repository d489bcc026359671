#include "traces/import/name_pattern.h"

#include <regex>

#include "traces/error.h"

namespace stowage {

struct NamePattern::Expression {
  std::regex regex;
};

NamePattern::NamePattern(const std::string& pattern, const std::string& option) {
  try {
    expression_ = std::make_unique<Expression>(
        Expression{std::regex(pattern, std::regex::ECMAScript | std::regex::optimize)});
  } catch (const std::regex_error& error) {
    throw InputError(option, "", std::string("expected a regular expression: ") + error.what());
  }
}

NamePattern::~NamePattern() = default;

bool NamePattern::found_in(std::string_view name) const {
  constexpr std::size_t longest = 1000;  // the standard library's matcher recurses once a character
  name = name.substr(0, longest);
  return std::regex_search(name.begin(), name.end(), expression_->regex);
}

}  // namespace stowage
