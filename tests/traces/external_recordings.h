// Real recordings, kept outside the repository.
#pragma once

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "tests/paths.h"
#include "traces/import/import.h"

namespace stowage::tests {

// $STOWAGE_TRACES, or shared/traces in the nearest folder above the source tree that has it.
inline std::filesystem::path recordings_folder() {
  if (const char* given = std::getenv("STOWAGE_TRACES")) return given;
  const std::filesystem::path below = std::filesystem::path("shared") / "traces";
  std::filesystem::path above = std::filesystem::path(source_folder()).parent_path();
  while (above.has_relative_path() && !std::filesystem::exists(above / below)) above = above.parent_path();
  return above / below;
}

// Where the recording is; absent, and said so, where there is none.
inline std::optional<std::string> recording(const std::string& name) {
  const std::filesystem::path file = recordings_folder() / name;
  if (std::filesystem::exists(file)) return file.string();
  std::cout << "no recordings: " << file.string() << " is absent; STOWAGE_TRACES names their folder\n";
  return std::nullopt;
}

// Imports a recording; absent where there is none.
inline std::optional<ImportReport> imported(const std::string& name, const ImportOptions& options = {}) {
  const std::optional<std::string> file = recording(name);
  if (!file) return std::nullopt;
  return import_recording(*file, options);
}

}  // namespace stowage::tests
