#include "profiler/saved_list.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <string>

namespace stowage {
namespace {

constexpr const char* scope_names[] = {"attention", "ffn", "other"};

TensorLayout layout_of(const at::Tensor& tensor) {
  return {c10::getDtypeNames(tensor.scalar_type()).first, tensor.sizes().vec(), tensor.strides().vec(),
          tensor.storage_offset()};
}

}  // namespace

void SavedList::on_save(const SaveEvent& event) {
  std::vector<Entry>& entries = blocks_.at(event.block);
  const auto before = std::count_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.tensor.scope == event.scope; });
  SavedTensor saved;
  saved.name = std::string(scope_names[static_cast<int>(event.scope)]) + "." + std::to_string(before);
  saved.bytes = {static_cast<std::int64_t>(event.tensor.storage().nbytes())};
  saved.scope = event.scope;
  saved.layout = layout_of(event.tensor);
  saved.stays =
      saved.bytes < small_ || c10::isIntegralType(event.tensor.scalar_type(), /*includeBool=*/false);
  entries.push_back({std::move(saved), event.storage});
}

void SavedList::on_start(const StartEvent& event) {
  const auto scope = static_cast<std::size_t>(event.scope);
  parts_.at(event.block)[scope] = true;
  std::optional<Bytes>& bytes = starts_.at(event.block)[scope];
  if (event.bytes) bytes = bytes.value_or(Bytes{}) + *event.bytes;
  // Without a word it would be a tensor as large as the block's input.
  if (event.scope != Scope::attention) bytes = bytes.value_or(Bytes{});
}

std::vector<SavedTensor> SavedList::block(std::size_t index) const {
  const std::vector<Entry>& entries = blocks_.at(index);
  std::vector<SavedTensor> list;
  for (const Entry& entry : entries) {
    list.push_back(entry.tensor);
    const auto sharers = std::count_if(entries.begin(), entries.end(),
                                       [&](const Entry& other) { return other.storage == entry.storage; });
    if (sharers > 1) list.back().storage = std::to_string(entry.storage);
  }
  return list;
}

}  // namespace stowage
