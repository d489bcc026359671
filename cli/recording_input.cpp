#include "cli/recording_input.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/quantity.h"
#include "cli/recording_text.h"
#include "traces/import/import.h"

namespace stowage {

namespace {

std::string unused_pattern(RecordingFormat format) {
  switch (format) {
    case RecordingFormat::memory_timeline:
      return "--blocks: has no effect on this format, which names none";
    case RecordingFormat::memory_snapshot:
      return "--blocks: matches no frame of the allocations' stacks (they read file:line:function)";
    default:
      return "--blocks: matches no range, module or operator";
  }
}

}  // namespace

void RecordingInput::declare(CLI::App& app) {
  app.add_option("FILE", file_,
                 "A profiler trace, memory snapshot, memory timeline or execution trace, gzipped or not; - "
                 "reads a pipe")
      ->required()
      ->type_name("FILE");
  app.add_option("--blocks", options_.blocks,
                 "Blocks are the ranges, modules or operators whose name this matches; of a snapshot the "
                 "stack frames, as file:line:function")
      ->type_name("REGEX");
}

ImportReport RecordingInput::read(Output& output, bool journal) const {
  ImportOptions options = options_;
  options.journal = journal;
  ImportReport report = import_recording(file_, options);
  if (!report.clean()) output.warn(file_ + ": damaged: " + repairs_text(report.repairs));
  for (const std::string& doubt : report.doubts) output.warn(file_ + ": not understood: " + doubt);
  if (report.explains_little())
    output.warn(
        file_ + ": what repeats explains " + percent(report.time->totals.explained()) +
        " of the time, so that settings for these blocks would change next to nothing; --blocks says where "
        "the model's are");
  if (options.blocks && report.found.how != FoundBy::pattern) output.warn(unused_pattern(report.format));
  return report;
}

std::string RecordingInput::name() const {
  const std::string name = std::filesystem::path(file_).filename().string();
  return file_ == "-" || file_.starts_with("/dev/") ? "recording" : name.substr(0, name.find('.', 1));
}

std::string sentence(const ImportReport& report) {
  return (report.clean() ? "Read " : "Recovered ") + describe(report) + ".";
}

}  // namespace stowage
