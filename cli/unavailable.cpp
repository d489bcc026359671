#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "traces/error.h"

namespace stowage {
namespace {

class UnavailableCommand final : public Command {
 public:
  explicit UnavailableCommand(const CommandTitle& title) : title_(title) {}

  CommandTitle title() const override { return title_; }
  void declare(CLI::App& app) override { app.allow_extras(); }
  Answer run(Output&) override {
    throw SystemError(title_.name, "built without LibTorch; `scripts/build torch` builds with it");
  }

 private:
  CommandTitle title_;
};

}  // namespace

std::unique_ptr<Command> unavailable_command(const CommandTitle& title) {
  return std::make_unique<UnavailableCommand>(title);
}

}  // namespace stowage
