// Finds the command, runs it, and catches what can go wrong, once.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_titles.h"
#include "cli/output.h"
#include "traces/error.h"

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
  commands.push_back(import_command());
  commands.push_back(replay_command());
  commands.push_back(simulate_command());
  commands.push_back(tune_command());
  commands.push_back(compare_command());
  commands.push_back(export_command());
  commands.push_back(validate_command());
  return commands;
}

void declare(CLI::App& program, Command& command, bool& json) {
  const CommandTitle title = command.title();
  CLI::App* app = program.add_subcommand(title.name, title.summary);
  app->footer("Example:\n  " + std::string(title.example));
  app->add_flag("--json", json, "Print one JSON object on standard output, and nothing else there");
  command.declare(*app);
}

std::string one_line(const char* text) {
  const std::string whole = text;
  return whole.substr(0, whole.find('\n'));
}

// Where the reader finds what is allowed.
std::string help_of(const CLI::App& program) {
  const auto parsed = program.get_subcommands();
  return "stowage " + (parsed.empty() ? "" : parsed.front()->get_name() + " ") + "--help";
}

int run(int argc, const char* const* argv) {
  CLI::App program("Stowage predicts, tunes and carries out checkpointing and offload for PyTorch training.",
                   "stowage");
  program.set_version_flag("--version", "stowage " STOWAGE_VERSION);
  program.require_subcommand(1);
  bool json = false;
  const Commands commands = all_commands();
  for (const auto& command : commands) declare(program, *command, json);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // help, version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    throw InputError("", "", one_line(error.what()) + "; see " + help_of(program));
  }
  Output output(json);
  Answer answer = Answer::done;
  for (const auto& command : commands)
    if (program.got_subcommand(command->title().name)) answer = command->run(output);
  output.finish();
  return static_cast<int>(answer);
}

}  // namespace
}  // namespace stowage

int main(int argc, char** argv) {
  const auto fail = [](const std::string& text) {
    std::fflush(stdout);
    std::fprintf(stderr, "stowage: %s\n", text.c_str());
    return 2;
  };
  try {
    return stowage::run(argc, argv);
  } catch (const stowage::InputError& error) {
    return fail(error.what());
  } catch (const stowage::SystemError& error) {
    return fail(error.what());
  } catch (const std::exception& error) {  // DefectError, and what no other folder foresaw
    return fail(stowage::one_line(error.what()) + " (a defect in Stowage: please report it)");
  }
}
