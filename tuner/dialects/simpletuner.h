// SimpleTuner's options, as of bc8e6ab.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tuner/dialects/dialect.h"
#include "tuner/dialects/simpletuner_family.h"

namespace stowage {

class SimpleTuner final : public Dialect {
 public:
  // Throws InputError naming "model_family" where it is not known, and lists those that are.
  explicit SimpleTuner(const std::string& family);

  // The options that have a say in memory: all others of a configuration are left as they are.
  static std::span<const std::string_view> keys();

  Meaning meaning(const Options& options, const BlockTable& table) const override;
  std::vector<Options> shapes(const BlockTable& table) const override;
  std::int64_t most_swapped(const Options& options, const BlockTable& table) const override;
  void swap(Options& options, std::int64_t blocks) const override;

 private:
  const SimpleTunerFamily& family_;
};

}  // namespace stowage
