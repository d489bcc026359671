// Compiles one plan after another and reuses its memory, for searches: of a long chain most of the time goes
// into memory that the system has to provide. Not shared between threads.
#pragma once

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "plan/program_builder.h"

namespace stowage {

class Compiler {
 public:
  // As the function of this name. What is returned stays until the next call.
  const Program& compile(const BlockTable& table, const Plan& plan);

 private:
  ProgramBuilder builder_;
};

}  // namespace stowage
