// Strict CSV: a table with named columns, read so that an error names its line and column.
//
// Fields are separated by commas; one that holds a comma, a quote or an end of line stands in double quotes,
// with quotes inside it doubled. Lines end with \n or \r\n; empty lines are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// One line below the headings. Keeps the names of its columns alive.
class CsvRow {
 public:
  CsvRow(std::shared_ptr<const std::vector<std::string>> columns, std::vector<std::string> cells,
         std::size_t line);

  std::size_t line() const { return line_; }
  // Throws InputError for a column that the table lacks.
  const std::string& text(std::string_view column) const;
  // Absent where the cell is empty. Throws InputError for what is no number within [least, most].
  std::optional<double> number(std::string_view column, double least, double most) const;
  // The same for a whole number.
  std::optional<std::int64_t> integer(std::string_view column, std::int64_t least, std::int64_t most) const;
  // How far apart the numbers are that a cell could show: 0.01 for "5.60", 1 for "7".
  double resolution(std::string_view column) const;
  // Throws InputError for this cell: "line 3, column gpu: expected ..., got ...".
  [[noreturn]] void refuse(std::string_view column, const std::string& expected) const;

 private:
  std::shared_ptr<const std::vector<std::string>> columns_;
  std::vector<std::string> cells_;
  std::size_t line_;
};

// The lines below the headings, in order. Further columns are allowed. Throws InputError for a column of
// `required` that is missing or that comes twice, a line with more or fewer cells than there are headings,
// and a quote that does not end.
std::vector<CsvRow> parse_csv(const std::string& text, std::initializer_list<std::string_view> required);

}  // namespace stowage
