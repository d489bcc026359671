// A trainer's own words for what a step keeps, drops and moves.
//
//   options  --meaning-->  settings  --simulate-->  figures
//
// There is no way back from settings to options: what a trainer can be told is listed, each with its meaning,
// and the best of that is chosen. So a recommendation says what the trainer will do with it, with the same
// code that reads a configuration somebody has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "plan/block_table.h"
#include "plan/settings.h"

namespace stowage {

using OptionValue = std::variant<bool, std::int64_t, std::string>;
// By the trainer's key. What is absent is as by default.
using Options = std::map<std::string, OptionValue>;

struct Meaning {
  Settings settings;
  // What the trainer says, or does not say though it ignores an option.
  std::vector<std::string> warnings;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  // What the trainer would do. Throws InputError, with the option for a path and in the trainer's sense,
  // where it would refuse to start.
  virtual Meaning meaning(const Options& options, const BlockTable& table) const = 0;
  // Options that differ in what they mean, those that swap no weights, simplest first. Each means something.
  virtual std::vector<Options> shapes(const BlockTable& table) const = 0;
  // How many blocks' weights can be swapped out beside these options; 0: none.
  virtual std::int64_t most_swapped(const Options& options, const BlockTable& table) const = 0;
  virtual void swap(Options& options, std::int64_t blocks) const = 0;
};

}  // namespace stowage
