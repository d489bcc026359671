#include "validation/published_check.h"

namespace stowage {
namespace {

template <class Unit>
ErrorFigures figures(const std::vector<CheckRow>& rows, std::optional<Compared<Unit>> CheckRow::*figure) {
  std::vector<double> errors;
  for (const CheckRow& row : rows)
    if (row.*figure) errors.push_back((row.*figure)->error());
  return figures_of(errors);
}

}  // namespace

ErrorFigures PublishedCheck::time() const {
  return figures(rows, &CheckRow::time);
}

ErrorFigures PublishedCheck::memory() const {
  return figures(rows, &CheckRow::memory);
}

}  // namespace stowage
