// What a trainer would take: the plan's figures with the trainer's own overhead.
#pragma once

#include <array>
#include <optional>

#include "plan/block_table.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "tuner/dialects/dialect.h"
#include "tuner/pricer.h"

namespace stowage {

class MeaningPricer {
 public:
  MeaningPricer(const BlockTable& table, const Machine& machine) : table_(table), machine_(machine) {}

  // Throws as Pricer::price.
  Run price(const Meaning& meaning);

 private:
  Pricer& pricer(const Overhead& overhead);

  const BlockTable& table_;
  const Machine machine_;
  std::array<std::optional<Pricer>, 4> pricers_;
};

}  // namespace stowage
