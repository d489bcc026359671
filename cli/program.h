// The program: finds the command, runs it, and catches what can go wrong, once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace stowage {

// The exit code: the command's own, or 2 for bad input and failures, with one line on standard error.
int run_program(const std::vector<std::unique_ptr<Command>>& commands, const std::string& version, int argc,
                const char* const* argv);

}  // namespace stowage
