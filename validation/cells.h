// Figures from cells that must hold one. All throw InputError with line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "traces/csv.h"
#include "traces/units.h"

namespace stowage {

// Whole numbers from 1 to `most`.
std::int64_t count_in(const CsvRow& row, std::string_view column, std::int64_t most);
// A nanosecond to 31 years, written in seconds or in milliseconds.
Nanos seconds_in(const CsvRow& row, std::string_view column);
Nanos milliseconds_in(const CsvRow& row, std::string_view column);
// A byte to a million GiB, written in GiB or in MiB.
Bytes gib_in(const CsvRow& row, std::string_view column);
Bytes mib_in(const CsvRow& row, std::string_view column);
// Absent where the cell is empty.
std::optional<Bytes> gib_if_given(const CsvRow& row, std::string_view column);

}  // namespace stowage
