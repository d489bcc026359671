#include "validation/cells.h"

#include "validation/published_figures.h"

namespace stowage {
namespace {

constexpr double least_seconds = 1e-9, most_seconds = 1e9;
constexpr double least_gib = 1e-9, most_gib = 1e6;
constexpr double milli = 1e3, mib_per_gib = 1024;

double figure_in(const CsvRow& row, std::string_view column, double least, double most) {
  const auto figure = row.number(column, least, most);
  if (!figure) row.refuse(column, "a number");
  return *figure;
}

}  // namespace

std::int64_t count_in(const CsvRow& row, std::string_view column, std::int64_t most) {
  const auto count = row.integer(column, 1, most);
  if (!count) row.refuse(column, "a whole number");
  return *count;
}

Nanos seconds_in(const CsvRow& row, std::string_view column) {
  return nanos_of(figure_in(row, column, least_seconds, most_seconds));
}

Nanos milliseconds_in(const CsvRow& row, std::string_view column) {
  return nanos_of(figure_in(row, column, least_seconds * milli, most_seconds * milli) / milli);
}

Bytes gib_in(const CsvRow& row, std::string_view column) {
  return bytes_of(figure_in(row, column, least_gib, most_gib));
}

Bytes mib_in(const CsvRow& row, std::string_view column) {
  return bytes_of(figure_in(row, column, least_gib * mib_per_gib, most_gib * mib_per_gib) / mib_per_gib);
}

std::optional<Bytes> gib_if_given(const CsvRow& row, std::string_view column) {
  return row.text(column).empty() ? std::nullopt : std::optional(gib_in(row, column));
}

}  // namespace stowage
