// Where a profile's times come from if not from the recording itself: --times.
#pragma once

#include <string>

#include "cli/output.h"
#include "traces/import/import_report.h"
#include "traces/profile.h"

namespace CLI {
class App;
}

namespace stowage {

class TimeSource {
 public:
  void declare(CLI::App& app);

  // The recording's profile, with the times of the file that was given. Without one it warns where the
  // recording's own are none of a device. Throws InputError where the file is neither a profile nor a
  // recording with times, or of another model.
  Profile timed(const ImportReport& report, Profile profile, Output& output) const;

 private:
  std::string file_;
};

}  // namespace stowage
