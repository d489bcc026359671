// Lists the commands.
#include "cli/command.h"
#include "cli/command_titles.h"
#include "cli/program.h"

namespace stowage {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

void add_torch_commands(Commands& commands) {
#ifdef STOWAGE_WITH_TORCH
  commands.push_back(demo_command());
  commands.push_back(profile_command());
  commands.push_back(train_command());
#else
  for (const CommandTitle& title : {demo_title, profile_title, train_title})
    commands.push_back(unavailable_command(title));
#endif
}

Commands all_commands() {
  Commands commands;
  add_torch_commands(commands);
  for (std::unique_ptr<Command>& command : core_commands()) commands.push_back(std::move(command));
  return commands;
}

}  // namespace
}  // namespace stowage

int main(int argc, char** argv) {
  return stowage::run_program(stowage::all_commands(), STOWAGE_VERSION, argc, argv);
}
