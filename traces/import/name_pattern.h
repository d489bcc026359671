// A regular expression for names, of the kind that Python's re knows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stowage {

class NamePattern {
 public:
  // Throws InputError that names `option` where `pattern` is no regular expression (ECMAScript's grammar).
  NamePattern(const std::string& pattern, const std::string& option);
  ~NamePattern();

  // Whether it matches anywhere in the first 1,000 characters.
  bool found_in(std::string_view name) const;

 private:
  struct Expression;
  std::unique_ptr<const Expression> expression_;
};

}  // namespace stowage
