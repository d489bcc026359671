// A command of the program: options, then an answer.
#pragma once

#include <memory>
#include <vector>

namespace CLI {
class App;
}

namespace stowage {

class Output;

// The exit code of a command that did what it was asked. Bad input is an exception and exit code 2.
enum class Answer { done = 0, no = 1 };

struct CommandTitle {
  const char* name;
  const char* summary;  // one line
  const char* example;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual CommandTitle title() const = 0;
  // Adds the command's options to `app`, bound to this object. Parsing them throws InputError naming the
  // flag.
  virtual void declare(CLI::App& app) = 0;
  // After parsing. Throws the three exceptions of traces/error.h.
  virtual Answer run(Output& output) = 0;
};

std::unique_ptr<Command> check_command();
std::unique_ptr<Command> compare_command();
std::unique_ptr<Command> explain_command();
std::unique_ptr<Command> completion_command();
std::unique_ptr<Command> doctor_command();
std::unique_ptr<Command> export_command();
std::unique_ptr<Command> import_command();
std::unique_ptr<Command> recommend_command();
std::unique_ptr<Command> man_command();
std::unique_ptr<Command> replay_command();
std::unique_ptr<Command> report_command();
std::unique_ptr<Command> simulate_command();
std::unique_ptr<Command> tune_command();
std::unique_ptr<Command> validate_command();
// All of these.
std::vector<std::unique_ptr<Command>> core_commands();

// With LibTorch only.
std::unique_ptr<Command> demo_command();
std::unique_ptr<Command> profile_command();
std::unique_ptr<Command> train_command();

// Stands in for one of these where the program was built without LibTorch: throws SystemError, says so.
std::unique_ptr<Command> unavailable_command(const CommandTitle& title);

}  // namespace stowage
