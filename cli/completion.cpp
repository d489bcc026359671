// stowage completion and stowage man: what a shell and man(1) want to know of the program.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/completion_script.h"
#include "cli/output.h"
#include "traces/error.h"
#include "traces/json.h"

namespace stowage {
namespace {

// Declared beside all the others, which it lists.
class ListingCommand : public Command {
 public:
  Answer run(Output& output) final {
    const std::string text = text_of(listed_commands(*app_->get_parent()), app_->get_parent()->version());
    output.say(text);
    output.object(JsonWriter().begin_object().field("text", text).end_object().text());
    return Answer::done;
  }
  void declare(CLI::App& app) override { app_ = &app; }

 private:
  virtual std::string text_of(const std::vector<ListedCommand>& commands,
                              const std::string& version) const = 0;

  CLI::App* app_ = nullptr;
};

class CompletionCommand final : public ListingCommand {
 public:
  CommandTitle title() const override {
    return {"completion", "Print completion for a shell: bash, zsh or fish",
            "source <(stowage completion bash)"};
  }

  void declare(CLI::App& app) override {
    ListingCommand::declare(app);
    app.add_option("SHELL", shell_, "Which shell")->required()->type_name("bash|zsh|fish");
  }

 private:
  std::string text_of(const std::vector<ListedCommand>& commands, const std::string&) const override {
    if (shell_ == "bash") return bash_completion(commands);
    if (shell_ == "zsh") return zsh_completion(commands);
    if (shell_ == "fish") return fish_completion(commands);
    throw InputError("SHELL", "", "expected one of bash, zsh, fish, not \"" + shell_ + "\"");
  }

  std::string shell_;
};

class ManCommand final : public ListingCommand {
 public:
  CommandTitle title() const override {
    return {"man", "Print the manual page, for man(1)", "stowage man > stowage.1 && man ./stowage.1"};
  }

 private:
  std::string text_of(const std::vector<ListedCommand>& commands, const std::string& version) const override {
    return manual_page(commands, version);
  }
};

}  // namespace

std::unique_ptr<Command> completion_command() {
  return std::make_unique<CompletionCommand>();
}

std::unique_ptr<Command> man_command() {
  return std::make_unique<ManCommand>();
}

}  // namespace stowage
