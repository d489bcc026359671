#include "cli/table.h"

#include <algorithm>
#include <utility>

#include "cli/output.h"

namespace stowage {
namespace {

constexpr std::size_t least_room = 20;  // of a terminal too narrow for the other columns

// A cell that begins at `column`, in lines that end by `width`. A word longer than that stands out.
std::string folded(const std::string& cell, std::size_t column, std::size_t width) {
  const std::size_t room = width > column + least_room ? width - column : least_room;
  std::string text;
  std::size_t from = 0;
  while (cell.size() - from > room) {
    std::size_t space = cell.rfind(' ', from + room);
    if (space == std::string::npos || space <= from) space = cell.find(' ', from);
    if (space == std::string::npos) break;
    text += cell.substr(from, space - from) + "\n" + std::string(column, ' ');
    from = space + 1;
  }
  return text + cell.substr(from);
}

}  // namespace

Table& Table::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
  return *this;
}

std::string Table::text() const {
  return text(output_width());
}

std::string Table::text(std::optional<std::size_t> width) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool words = i == 0 || i >= left_;
      line += i == 0 ? "  " : "   ";
      if (words && i > 0 && i + 1 == widths.size() && width)
        line += folded(row[i], line.size(), *width);
      else
        line += words ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace stowage
