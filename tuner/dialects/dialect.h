// A trainer's own words for what a step keeps, drops and moves.
//
//   options  --meaning-->  a plan  --simulate-->  figures
//
// There is no way back from a plan to options: what a trainer can be told is listed, each with its meaning,
// and the best of that is chosen. So a recommendation says what the trainer will do with it, with the same
// code that reads a configuration somebody has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "traces/config/config_text.h"

namespace stowage {

using OptionValue = ConfigValue;
// By the trainer's key. What is absent is as by default.
using Options = std::map<std::string, OptionValue>;

// What a trainer's own way of doing it takes beside the plan.
struct Overhead {
  Bytes device;           // that its buffers hold all the time
  Bytes waited;           // copied through pageable memory while nothing else runs
  bool turns = false;     // the two directions of the link take turns
  bool pageable = false;  // copies keep the pace of pageable memory, beside the compute

  bool operator==(const Overhead&) const = default;
};

struct Meaning {
  Plan plan;
  Overhead overhead;
  // What the trainer says, or does not say though it ignores an option.
  std::vector<std::string> warnings;
  // How it is counted where no plan does exactly what the trainer does, and to which side that errs.
  std::vector<std::string> readings;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  // What the trainer would do. Throws InputError, with the option for a path and in the trainer's sense,
  // where it would refuse to start, or where what it would do cannot be counted.
  virtual Meaning meaning(const Options& options, const BlockTable& table) const = 0;
  // Options that differ in what they mean, simplest first; without those that swap() makes. Each means
  // something.
  virtual std::vector<Options> shapes(const BlockTable& table) const = 0;
  // How many blocks' weights can be swapped out beside these options, each block more of nested sets and
  // without prefetch; 0: none.
  virtual std::int64_t most_swapped(const Options&, const BlockTable&) const { return 0; }
  virtual void swap(Options&, std::int64_t) const {}
};

}  // namespace stowage
