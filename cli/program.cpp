#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/output.h"
#include "traces/error.h"

namespace stowage {
namespace {

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

int run(const std::vector<std::unique_ptr<Command>>& commands, const std::string& version, int argc,
        const char* const* argv) {
  CLI::App program("Stowage predicts, tunes and carries out checkpointing and offload for PyTorch training.",
                   "stowage");
  program.set_version_flag("--version", "stowage " + version);
  program.require_subcommand(1);
  bool json = false;
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

int fail(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "stowage: %s\n", text.c_str());
  return 2;
}

}  // namespace

int run_program(const std::vector<std::unique_ptr<Command>>& commands, const std::string& version, int argc,
                const char* const* argv) {
  try {
    return run(commands, version, argc, argv);
  } catch (const InputError& error) {
    return fail(error.what());
  } catch (const SystemError& error) {
    return fail(error.what());
  } catch (const std::exception& error) {  // DefectError, and what no other folder foresaw
    return fail(one_line(error.what()) + " (a defect in Stowage: please report it)");
  }
}

}  // namespace stowage
