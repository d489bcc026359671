// The discrete-event engine: carries out a program on a machine, on paper.
//
// Pure and deterministic: the same program and machine give the same bytes. One Engine may simulate many
// programs and reuses its memory, so that the inner loop allocates nothing. Not shared between threads.
#pragma once

#include <memory>

#include "plan/program.h"
#include "simulator/outcome.h"
#include "traces/machine.h"
#include "traces/timeline.h"

namespace stowage {

class Engine {
 public:
  explicit Engine(const Machine& machine);
  ~Engine();

  // Cost: linear in the program's steps.
  Outcome simulate(const Program& program);
  // The same, and everything that happened on the way.
  Outcome simulate(const Program& program, Timeline& timeline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
