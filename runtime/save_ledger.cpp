#include "runtime/save_ledger.h"

#include "traces/error.h"

namespace stowage {
namespace {

// "float [2, 8]"
std::string shape_text(const caffe2::TypeMeta& type, at::IntArrayRef sizes) {
  std::string text(type.name());
  text += " [";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

}  // namespace

void SaveLedger::note(const at::Tensor& tensor, std::optional<std::uint32_t> storage) {
  entries_.push_back({at::DimVector(tensor.sizes()), tensor.dtype(), storage});
}

void SaveLedger::check(std::size_t index, const at::Tensor& again) const {
  if (index >= size()) check_count(index + 1);
  const Entry& entry = entries_[index];
  if (again.sizes() == entry.sizes && again.dtype() == entry.type) return;
  refuse("saves tensor " + std::to_string(index) + " as " + shape_text(again.dtype(), again.sizes()) +
         " when it is run again, but its forward saved " + shape_text(entry.type, entry.sizes));
}

void SaveLedger::check_count(std::size_t again) const {
  if (again == size()) return;
  refuse("saves " + std::to_string(again) + " tensors when it is run again, but its forward saved " +
         std::to_string(size()));
}

void SaveLedger::refuse(const std::string& reason) const {
  throw InputError("model", "block " + std::to_string(block_), reason);
}

}  // namespace stowage
