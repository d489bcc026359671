#include "cli/sparkline.h"

#include <algorithm>
#include <array>

namespace stowage {
namespace {

constexpr std::array bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string sparkline(const std::vector<MemorySample>& curve, Nanos end, std::size_t columns) {
  const Bytes top = peak(curve);
  if (top == Bytes{} || end == Nanos{}) return "";
  std::string text;
  const auto begin_of = [&](std::size_t column) {
    return static_cast<std::int64_t>(static_cast<double>(end.value) * static_cast<double>(column) /
                                     static_cast<double>(columns));
  };
  std::size_t next = 0;
  Bytes level;
  for (std::size_t column = 0; column < columns; ++column) {
    for (; next < curve.size() && curve[next].at.value <= begin_of(column); ++next) level = curve[next].bytes;
    Bytes highest = level;
    for (; next < curve.size() && curve[next].at.value < begin_of(column + 1); ++next) {
      level = curve[next].bytes;
      highest = std::max(highest, level);
    }
    const double share = static_cast<double>(highest.value) / static_cast<double>(top.value);
    text +=
        bars[std::min(bars.size() - 1, static_cast<std::size_t>(share * static_cast<double>(bars.size())))];
  }
  return text;
}

}  // namespace stowage
