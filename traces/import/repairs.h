// What a damaged recording cost: how often each kind of damage was
// repaired or dropped, and where it was first seen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace stowage {

// An event counts once, under the gravest damage found in it (the last of these).
enum class Repair : std::uint8_t {
  bad_escape,          // a backslash that starts no escape: kept as it stands
  control_character,   // a raw control character inside a string: kept
  not_a_number,        // NaN, inf, N/A and their like: the value counts as absent
  stray_comma,         // a comma with nothing before or after it: passed over
  raw_quote,           // a quote inside a string, not escaped: kept as part of it
  size_out_of_range,   // a number of bytes that no machine has: taken for not told
  clock_out_of_range,  // a time that does not fit: the event is dropped
  zero_duration,       // a copy too large to have taken no time: its time counts as unknown
  missing_duration,    // a span without a duration: kept out of all times
  negative_duration,   // likewise
  dropped_event,       // not understood even with the repairs above
  oversized_event,     // larger than any real one: passed over
  truncated,           // the file ends before its content does
  trailing_bytes,      // something follows the end of the content
};
inline constexpr int repair_count = 14;

const char* name_of(Repair repair);

class Repairs {
 public:
  struct Tally {
    std::int64_t count = 0;
    std::uint64_t first_offset = 0;  // bytes into the unpacked file
  };

  void add(Repair repair, std::uint64_t offset);
  const Tally& operator[](Repair repair) const { return tallies_[static_cast<std::size_t>(repair)]; }
  bool none() const;

 private:
  std::array<Tally, repair_count> tallies_;
};

}  // namespace stowage
