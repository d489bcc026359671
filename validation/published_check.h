// One published table against the simulator, row by row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"
#include "validation/error_figures.h"

namespace stowage {

template <class Unit>
struct Compared {
  Unit measured, predicted;

  double error() const {
    return error_of(static_cast<double>(predicted.value), static_cast<double>(measured.value));
  }
  bool operator==(const Compared&) const = default;
};

struct CheckRow {
  std::string label;
  // Absent where the row says nothing of it, or where the prediction was made from it.
  std::optional<Compared<Nanos>> time;
  std::optional<Compared<Bytes>> memory;

  bool operator==(const CheckRow&) const = default;
};

struct PublishedCheck {
  std::string name;
  std::vector<CheckRow> rows;

  ErrorFigures time() const;
  ErrorFigures memory() const;
};

}  // namespace stowage
