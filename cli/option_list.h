// Every command with its options, as they were declared: what completion and the manual page are made from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace stowage {

struct ListedOption {
  std::vector<std::string> names;  // "-o", "--output"; empty for a positional argument
  std::string argument;            // "FILE", "keep|recompute"; empty for a switch
  std::vector<std::string> choices;
  std::string help;
  std::string positional;  // "PROFILE"
  bool required = false;

  std::string long_name() const { return names.empty() ? "" : names.back().substr(2); }
};

struct ListedCommand {
  std::string name, summary, example;
  std::vector<ListedOption> options;
};

// Of the whole program, in the order of `--help`.
std::vector<ListedCommand> listed_commands(const CLI::App& program);

}  // namespace stowage
