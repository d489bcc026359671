// What the import promises of any bytes: a report, whose profile survives its file, or an InputError.
#pragma once

#include <span>

#include "tests/fuzz/attempt.h"
#include "traces/import/import.h"
#include "traces/import/import_json.h"
#include "traces/import/import_profile.h"

namespace stowage {

inline int imports(const std::uint8_t* bytes, std::size_t size) {
  const auto report = attempt(bytes, size, [](const std::string& text) {
    return import_recording(*open_bytes(std::span(text)), "fuzz", {.blocks = {}, .journal = true});
  });
  if (!report) return 0;
  to_json(*report);
  const Profile profile = profile_of(*report, "fuzz");
  if (!(parse_profile(to_json(profile)) == profile)) std::abort();
  return 0;
}

}  // namespace stowage
