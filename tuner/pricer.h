// Settings, or a plan, all the way to figures of a steady step. Not shared between threads: reuses its
// memory.
#pragma once

#include <optional>

#include "plan/block_table.h"
#include "plan/compiler.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "simulator/engine.h"
#include "simulator/evaluator.h"
#include "simulator/outcome.h"
#include "traces/machine.h"

namespace stowage {

class Pricer {
 public:
  Pricer(const BlockTable& table, const Machine& machine);

  // With memory taken as if it had no limit. Throws DefectError for a deadlock, which settings never cause.
  Run price(const Settings& settings);
  Run price(const Plan& plan);

 private:
  const BlockTable& table_;
  Compiler compiler_;
  std::optional<Evaluator> evaluator_;  // where it serves the machine
  Engine engine_;
};

}  // namespace stowage
