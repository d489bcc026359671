// The recording that a command reads.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "traces/import/import_report.h"

namespace CLI {
class App;
}

namespace stowage {

// FILE and --blocks.
class RecordingInput {
 public:
  void declare(CLI::App& app);

  // Warns of damage, and of a pattern without effect. `journal`: the allocator's requests are wanted too.
  // Throws as import_recording() does.
  ImportReport read(Output& output, bool journal = false) const;

  const std::string& file() const { return file_; }
  // "trace" of "runs/trace.json.gz"; "recording" of a pipe.
  std::string name() const;

 private:
  std::string file_;
  ImportOptions options_;
};

// "Read a profiler trace of 56451 events, 3 steps of 16.0 ms." or "Recovered ...".
std::string sentence(const ImportReport& report);

// Whether what was recorded is what was read, and understood; a recovered recording is told from a clean one
// by the exit code.
inline Answer answer(const ImportReport& report) {
  return report.clean() && report.doubts.empty() ? Answer::done : Answer::no;
}

}  // namespace stowage
