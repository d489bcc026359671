#include "cli/time_source.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "traces/error.h"
#include "traces/import/byte_window.h"
#include "traces/import/import.h"
#include "traces/import/import_profile.h"
#include "traces/import/profile_times.h"

namespace stowage {
namespace {

bool is_profile(const std::string& file) {
  const auto source = open_bytes(file);
  const ByteWindow window(*source);
  return std::string_view(window.begin(), window.end()).find("\"stowage.profile\"") != std::string_view::npos;
}

Profile profile_with_times(const std::string& file) {
  if (is_profile(file)) return read_profile(file);
  const ImportReport report = import_recording(file, {});
  if (report.format == RecordingFormat::memory_snapshot)
    throw InputError(file, "", "expected times of a device, which a snapshot does not have");
  return profile_of(report, file);
}

Bytes saved(const Profile& profile) {
  Bytes all;
  for (const BlockProfile& block : profile.expanded()) all += saved_bytes(block);
  return all;
}

// Within a tenth, or not told.
bool alike(Bytes a, Bytes b) {
  return a.value == 0 || b.value == 0 || std::abs(a.value - b.value) <= std::max(a, b).value / 10;
}

}  // namespace

void TimeSource::declare(CLI::App& app) {
  app.add_option("--times", file_,
                 "Take times from this profile or recording of the same model: a memory snapshot has none of "
                 "the device")
      ->type_name("FILE");
}

Profile TimeSource::timed(const ImportReport& report, Profile profile, Output& output) const {
  if (!file_.empty()) {
    const Profile source = profile_with_times(file_);
    try {
      take_times(profile, source);
    } catch (const InputError& error) {
      throw error.in(file_);
    }
    if (!alike(saved(profile), saved(source)))
      output.warn("--times: blocks save other bytes there: the times may be of another batch");
  } else if (report.format == RecordingFormat::memory_snapshot && report.time) {
    output.warn(
        "times: a snapshot knows when the host allocated, not how long the device worked; these stand in, "
        "alike for equal blocks. --times TRACE gives the device's");
  } else if (!report.time) {
    output.warn("times: the recording has none, and the profile says 0. --times TRACE gives them");
  }
  return profile;
}

}  // namespace stowage
