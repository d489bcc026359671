// The engine's figures without its loop, for searches that simulate many programs.
//
// Where no rate is shared, a step's start depends only on ends that come before it, so times follow from
// recurrences, lane by lane and without a clock; memory follows by merging the lanes' edges afterwards:
//
//   ready_k = end_{k-1}      begin = max(ready or issue, end before it on its lane, ends of its waits)
//
// One Evaluator may evaluate many programs and reuses its memory. Not shared between threads.
#pragma once

#include <memory>
#include <optional>

#include "plan/program.h"
#include "simulator/outcome.h"
#include "traces/machine.h"

namespace stowage {

class Evaluator {
 public:
  // Whether the machine's lanes keep their own pace. Where not, only the Engine knows.
  static bool serves(const Machine& machine);
  // And whether all host memory of the program is pinned at no cost, to the device neither.
  bool serves(const Program& program) const;

  // Throws DefectError for a machine that it does not serve.
  explicit Evaluator(const Machine& machine);
  ~Evaluator();

  // Exactly the run that Engine::simulate gives for a program that it serves; absent for a deadlock. Budgets
  // are the caller's to compare. Throws as Engine::simulate does. Cost: linear in the program's steps, less
  // than the engine's.
  std::optional<Run> evaluate(const Program& program);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
