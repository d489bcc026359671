// A table of text: columns as wide as their widest cell, the first to the left, numbers to the right.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stowage {

class Table {
 public:
  // Column `left` and beyond it are words, to the left; columns 1 to `left` are numbers. Absent: only column
  // 0 is words.
  explicit Table(std::size_t left = std::string::npos) : left_(left) {}

  Table& row(std::vector<std::string> cells);
  // As wide as standard output: what does not fit of the last column, where that is words, goes on below it.
  std::string text() const;
  std::string text(std::optional<std::size_t> width) const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stowage
