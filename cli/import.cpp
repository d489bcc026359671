// stowage import: what a recording holds, and a profile and a machine from it.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/recording_input.h"
#include "cli/recording_text.h"
#include "cli/time_source.h"
#include "traces/error.h"
#include "traces/file.h"
#include "traces/import/import_json.h"
#include "traces/import/import_machine.h"
#include "traces/import/import_profile.h"

namespace stowage {
namespace {

Bytes required(const std::optional<Bytes>& bytes, const char* flag, const char* what) {
  if (!bytes)
    throw InputError(
        flag, "",
        std::string("needed for a machine file: the recording does not tell how much memory the ") + what +
            " has");
  return *bytes;
}

class ImportCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"import", "Read a recording: what it holds, and a profile of its blocks",
            "stowage import trace.json.gz -o profile.json"};
  }

  void declare(CLI::App& app) override {
    recording_.declare(app);
    app.add_option("-o,--output", profile_, "Write the profile")->type_name("FILE");
    app.add_option("--machine-output", machine_, "Write a machine, links fitted to the recording's copies")
        ->type_name("FILE");
    times_.declare(app);
    memory_.declare(app);
  }

  Answer run(Output& output) override {
    const ImportReport report = recording_.read(output);
    const std::string machine = machine_.empty() ? "" : to_json(machine_from(report, output));
    if (!profile_.empty() && !report.doubts.empty()) output.warn("--output: no profile is made of this");
    if (!profile_.empty() && report.doubts.empty())
      write_file(profile_, to_json(times_.timed(report, profile_of(report, recording_.name()), output)));
    if (!machine_.empty()) write_file(machine_, machine);
    output.answer(sentence(report));
    output.say("\n" + recording_text(report));
    output.object(to_json(report));
    return stowage::answer(report);
  }

 private:
  Machine machine_from(const ImportReport& report, Output& output) const {
    const RecordedMachine recorded = machine_of(report);
    if (!recorded.links)
      throw InputError("--machine-output", "", "the recording holds no copy over the link that tells a rate");
    Machine machine;
    machine.name = recorded.device.empty() ? recording_.name() : recorded.device;
    machine.device.memory =
        required(memory_.vram ? memory_.vram : recorded.device_memory, "--vram", "device");
    machine.host.memory = machine.host.pinned_limit = required(memory_.host_ram, "--host-ram", "host");
    machine.links = *recorded.links;
    for (const std::string& assumption : recorded.assumptions)
      output.warn("not recorded; taken: " + assumption);
    return machine;
  }

  RecordingInput recording_;
  TimeSource times_;
  std::string profile_, machine_;
  MemoryFlags memory_;
};

}  // namespace

std::unique_ptr<Command> import_command() {
  return std::make_unique<ImportCommand>();
}

}  // namespace stowage
