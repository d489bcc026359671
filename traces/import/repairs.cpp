#include "traces/import/repairs.h"

#include <algorithm>

namespace stowage {

const char* name_of(Repair repair) {
  static constexpr std::array<const char*, repair_count> names = {
      "bad_escape",        "control_character",  "not_a_number",  "stray_comma",      "raw_quote",
      "size_out_of_range", "clock_out_of_range", "zero_duration", "missing_duration", "negative_duration",
      "dropped_event",     "oversized_event",    "truncated",     "trailing_bytes",
  };
  return names[static_cast<std::size_t>(repair)];
}

void Repairs::add(Repair repair, std::uint64_t offset) {
  Tally& tally = tallies_[static_cast<std::size_t>(repair)];
  if (tally.count++ == 0) tally.first_offset = offset;
}

bool Repairs::none() const {
  return std::all_of(tallies_.begin(), tallies_.end(), [](const Tally& tally) { return tally.count == 0; });
}

}  // namespace stowage
