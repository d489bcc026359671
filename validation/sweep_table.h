// A published sweep over checkpoint settings: one row for each family, precision, mode and GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "validation/calibrate.h"
#include "validation/families.h"

namespace stowage {

struct SweepRow {
  std::size_t line = 0;
  std::string family, precision, mode, gpu;
  std::string status;               // "ok", or why there are no figures
  std::optional<Reading> measured;  // absent where the run failed or was not made
  Bytes resolution;                 // of the measured peak, as it is printed

  bool operator==(const SweepRow&) const = default;
};

// What a mode's name says: "none", "layer" (every block), "interval2", "seg2-stride4".
struct SweepMode {
  bool checkpoints = false;
  std::int64_t interval = 1;
  std::optional<std::int64_t> stride;

  bool operator==(const SweepMode&) const = default;
};

// Absent for other names: their modes do more than checkpoint.
std::optional<SweepMode> mode_of(const std::string& name);
// What simulates the mode in this family, which must have a segmenting; absent for "none".
std::optional<Settings> settings_of(const SweepMode& mode, const Family& family);

// Columns family, precision, mode, gpu, sec_per_step, peak_gib and status. Throws InputError with line and
// column: as parse_csv() does, and for a family that `families` lacks, one figure without the other, none
// where the status is "ok", and a row given twice.
std::vector<SweepRow> parse_sweep(const std::string& text, const std::vector<Family>& families);

}  // namespace stowage
