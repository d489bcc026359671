#include "cli/command.h"

namespace stowage {

std::vector<std::unique_ptr<Command>> core_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(import_command());
  commands.push_back(replay_command());
  commands.push_back(simulate_command());
  commands.push_back(tune_command());
  commands.push_back(explain_command());
  commands.push_back(recommend_command());
  commands.push_back(check_command());
  commands.push_back(compare_command());
  commands.push_back(export_command());
  commands.push_back(report_command());
  commands.push_back(validate_command());
  commands.push_back(doctor_command());
  commands.push_back(completion_command());
  commands.push_back(man_command());
  return commands;
}

}  // namespace stowage
