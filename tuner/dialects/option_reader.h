// Options as a trainer's argument parser takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/dialects/dialect.h"

namespace stowage {

// Throws InputError with the option for a path.
[[noreturn]] void refuse_option(std::string_view key, const std::string& reason);

// An option that is absent, empty or None is as by default. All throw InputError where the value is another
// than expected.
class OptionReader {
 public:
  explicit OptionReader(const Options& options) : options_(options) {}

  bool given(std::string_view key) const { return find(key); }
  bool flag(std::string_view key, bool otherwise) const;
  std::optional<std::int64_t> count(std::string_view key,
                                    const char* expected = "expected a whole number") const;
  // 0 or more.
  std::int64_t count_or(std::string_view key, std::int64_t otherwise) const;
  std::optional<double> number(std::string_view key, double least, double most) const;
  std::optional<std::string> word(std::string_view key) const;

 private:
  const OptionValue* find(std::string_view key) const;

  const Options& options_;
};

}  // namespace stowage
