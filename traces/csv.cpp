#include "traces/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "traces/error.h"

namespace stowage {
namespace {

std::string place(std::size_t line) {
  return "line " + std::to_string(line);
}

// Takes one record after another off a text, counting lines.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  bool done() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  std::vector<std::string> record() {
    std::vector<std::string> cells(1);
    while (!done()) {
      const char c = text_[at_];
      if (c == '"' && cells.back().empty()) {
        cells.back() = quoted();
        continue;
      }
      ++at_;
      if (c == '\n') break;
      if (c == ',')
        cells.emplace_back();
      else if (c != '\r' || done() || text_[at_] != '\n')
        cells.back() += c;
    }
    return cells;
  }

  void end_of_line() { line_ += 1 + inner_lines_, inner_lines_ = 0; }

 private:
  // From an opening quote to past the closing one.
  std::string quoted() {
    std::string content;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '\n') ++inner_lines_;
      if (text_[at_] != '"') {
        content += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        content += text_[++at_];
      } else {
        ++at_;
        if (!done() && text_[at_] != ',' && text_[at_] != '\r' && text_[at_] != '\n')
          throw InputError("", place(line_), "expected a comma after a closing quote");
        return content;
      }
    }
    throw InputError("", place(line_), "a quote that does not end");
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, inner_lines_ = 0;
};

std::vector<std::string> headings(CsvReader& reader, std::initializer_list<std::string_view> required) {
  std::vector<std::string> columns = reader.record();
  for (std::string_view name : required)
    if (std::find(columns.begin(), columns.end(), name) == columns.end())
      throw InputError("", place(reader.line()), "expected a column \"" + std::string(name) + "\"");
  std::vector<std::string> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw InputError("", place(reader.line()), "column \"" + *twice + "\" twice");
  reader.end_of_line();
  return columns;
}

}  // namespace

CsvRow::CsvRow(std::shared_ptr<const std::vector<std::string>> columns, std::vector<std::string> cells,
               std::size_t line)
    : columns_(std::move(columns)), cells_(std::move(cells)), line_(line) {}

const std::string& CsvRow::text(std::string_view column) const {
  const auto found = std::find(columns_->begin(), columns_->end(), column);
  if (found == columns_->end())
    throw InputError("", place(1), "expected a column \"" + std::string(column) + "\"");
  return cells_[static_cast<std::size_t>(found - columns_->begin())];
}

std::optional<double> CsvRow::number(std::string_view column, double least, double most) const {
  const std::string& cell = text(column);
  if (cell.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) refuse(column, "a number");
  if (!(value >= least && value <= most)) {
    std::ostringstream range;
    range << "a number from " << least << " to " << most;
    refuse(column, range.str());
  }
  return value;
}

std::optional<std::int64_t> CsvRow::integer(std::string_view column, std::int64_t least,
                                            std::int64_t most) const {
  const std::string& cell = text(column);
  if (cell.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || value < least || value > most)
    refuse(column, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

double CsvRow::resolution(std::string_view column) const {
  const std::string& cell = text(column);
  const std::size_t point = cell.find('.');
  return point == std::string::npos ? 1.0 : std::pow(10.0, -static_cast<double>(cell.size() - point - 1));
}

void CsvRow::refuse(std::string_view column, const std::string& expected) const {
  throw InputError("", place(line_) + ", column " + std::string(column),
                   "expected " + expected + ", got \"" + text(column) + "\"");
}

std::vector<CsvRow> parse_csv(const std::string& text, std::initializer_list<std::string_view> required) {
  CsvReader reader(text);
  const auto columns = std::make_shared<const std::vector<std::string>>(headings(reader, required));
  std::vector<CsvRow> rows;
  while (!reader.done()) {
    std::vector<std::string> cells = reader.record();
    const bool empty = cells.size() == 1 && cells.front().empty();
    if (!empty && cells.size() != columns->size())
      throw InputError(
          "", place(reader.line()),
          "expected " + std::to_string(columns->size()) + " cells, got " + std::to_string(cells.size()));
    if (!empty) rows.emplace_back(columns, std::move(cells), reader.line());
    reader.end_of_line();
  }
  return rows;
}

}  // namespace stowage
