// stowage demo: the whole job on this machine, from nothing.
#include <CLI/CLI.hpp>
#include <limits>

#include "cli/command_titles.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/torch_demonstration.h"
#include "cli/torch_subject.h"

namespace stowage {
namespace {

class DemoCommand final : public Command {
 public:
  CommandTitle title() const override { return demo_title; }

  void declare(CLI::App& app) override {
    subject_.declare(app, false);
    app.add_option("-o,--output", options_.folder, "Folder for what is measured and planned (stowage-demo)")
        ->type_name("FOLDER");
    add_count(app, "--steps", options_.steps, 2, 1000, "Training steps under each plan (8)");
    add_count(app, "--repeats", options_.repeats, 1, 1000, "Steps to measure the model over (9)");
    add_size(app, "--vram", options_.vram,
             "The budget; without it, halfway between recomputing and keeping everything");
  }

  Answer run(Output& output) override {
    Demonstration demonstration(subject_.read(), options_, output);
    return demonstration.run() ? Answer::done : Answer::no;
  }

 private:
  SubjectFlags subject_;
  DemonstrationOptions options_;
};

}  // namespace

std::unique_ptr<Command> demo_command() {
  return std::make_unique<DemoCommand>();
}

}  // namespace stowage
