#include "traces/import/pickle.h"

namespace stowage {

std::string_view Pickle::text(const PickleValue& value) const {
  if (value.kind != PickleValue::Kind::text) return {};
  return texts_.text(value.index);
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
  if (value.kind != PickleValue::Kind::list) return {};
  return containers_[value.index].values;
}

std::span<const PickleValue> Pickle::pairs(const PickleValue& value) const {
  if (value.kind != PickleValue::Kind::dictionary) return {};
  return containers_[value.index].values;
}

PickleValue Pickle::find(const PickleValue& value, std::string_view key) const {
  const std::span<const PickleValue> all = pairs(value);
  for (std::size_t i = all.size(); i >= 2; i -= 2) {
    if (all[i - 2].kind == PickleValue::Kind::text && text(all[i - 2]) == key) return all[i - 1];
  }
  return {};
}

std::optional<std::int64_t> Pickle::integer(const PickleValue& value) const {
  if (value.kind != PickleValue::Kind::integer && value.kind != PickleValue::Kind::boolean)
    return std::nullopt;
  return value.integer;
}

}  // namespace stowage
