#include "tuner/pricer.h"

#include "plan/plan.h"
#include "traces/error.h"

namespace stowage {

namespace {

// Of a steady step, which finds its host buffers pinned.
Machine settled(Machine machine) {
  machine.host.pinning = {};
  return machine;
}

}  // namespace

Pricer::Pricer(const BlockTable& table, const Machine& machine) : table_(table), engine_(settled(machine)) {
  if (Evaluator::serves(machine)) evaluator_.emplace(settled(machine));
}

Run Pricer::price(const Settings& settings) {
  return price(expand(table_, settings).plan);
}

Run Pricer::price(const Plan& plan) {
  const Program& program = compiler_.compile(table_, plan);
  if (evaluator_ && evaluator_->serves(program)) {
    if (const std::optional<Run> run = evaluator_->evaluate(program)) return *run;
  } else {
    const Outcome outcome = engine_.simulate(program);
    if (!std::holds_alternative<Deadlock>(outcome.verdict)) return outcome.run;
  }
  throw DefectError("a plan that deadlocks" + (plan.settings ? ": " + describe(*plan.settings) : ""));
}

}  // namespace stowage
