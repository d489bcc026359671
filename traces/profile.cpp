#include "traces/profile.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <unordered_map>

namespace stowage {
namespace {

// FNV-1a: not for secrecy, only to tell structures apart.
class Digest {
 public:
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
  }
  void add(Bytes bytes) { add(bytes.value); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    for (char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, state_);
    return digits;
  }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3; }

  std::uint64_t state_ = 0xcbf29ce484222325;
};

void add(Digest& digest, const BlockSizes& sizes) {
  digest.add(sizes.input);
  digest.add(sizes.weight);
  digest.add(sizes.gradient);
  digest.add(sizes.forward_workspace);
  digest.add(sizes.dropped_workspace.value_or(sizes.forward_workspace));
  digest.add(sizes.backward_workspace);
  for (const ByScope<Bytes>* figures :
       {&sizes.scope_input, &sizes.scope_dropped_workspace, &sizes.scope_workspace}) {
    for (int scope = 0; scope < scope_count; ++scope) {
      if (!(*figures)[scope]) continue;  // so that files of before have the digest of before
      digest.add(scope);
      digest.add(*(*figures)[scope]);
    }
  }
  const auto where_any = [](Bytes bytes) { return bytes > Bytes{} ? std::optional(bytes) : std::nullopt; };
  const std::optional<Bytes> later[] = {where_any(sizes.backward_relief), where_any(sizes.handed_on),
                                        sizes.input_gradient, where_any(sizes.handed_on_gradient),
                                        sizes.rest_workspace};
  for (std::size_t i = 0; i < std::size(later); ++i) {
    if (!later[i]) continue;  // likewise
    digest.add(static_cast<std::int64_t>(i));
    digest.add(*later[i]);
  }
}

void add(Digest& digest, const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) {  // nothing where there are none, as for scope_input
    digest.add(layer.name);
    digest.add(static_cast<std::int64_t>(layer.scope));
    digest.add(layer.weight);
    if (layer.workspace) digest.add(*layer.workspace);
  }
}

// Storages count by the tensors that share them: their names may differ from one measurement to the next.
void add(Digest& digest, const BlockProfile& block) {
  digest.add(static_cast<std::int64_t>(block.saved.size()));
  for (const SavedTensor& tensor : block.saved) {
    digest.add(tensor.name);
    digest.add(tensor.bytes);
    digest.add(static_cast<std::int64_t>(tensor.scope));
  }
  for (const SavedStorage& storage : storages(block)) {
    digest.add(static_cast<std::int64_t>(storage.tensors.size()));
    for (std::uint32_t tensor : storage.tensors) digest.add(tensor);
    if (storage.stays) digest.add(true);  // as for scope_input
  }
}

}  // namespace

std::vector<BlockProfile> Profile::expanded() const {
  std::vector<BlockProfile> all;
  for (const BlockProfile& block : blocks) {
    all.insert(all.end(), static_cast<std::size_t>(block.count), block);
    for (auto copy = all.end() - block.count; copy != all.end(); ++copy) copy->count = 1;
  }
  return all;
}

std::string Profile::digest() const {
  Digest digest;
  for (Bytes bytes : {fixed.resident, fixed.optimizer_state, fixed.output, fixed.epilogue_bytes})
    digest.add(bytes);
  digest.add(segments_cross_groups);
  for (const BlockProfile& block : blocks) {
    digest.add(block.name);
    digest.add(block.group.value_or(""));
    digest.add(block.group.has_value());
    digest.add(block.count);
    add(digest, block.sizes);
    add(digest, block);
    add(digest, block.layers);
  }
  return digest.text();
}

std::vector<SavedStorage> storages(const BlockProfile& block) {
  std::vector<SavedStorage> all;
  std::unordered_map<std::string_view, std::size_t> named;
  for (std::uint32_t i = 0; i < block.saved.size(); ++i) {
    const SavedTensor& tensor = block.saved[i];
    const std::size_t at =
        tensor.storage ? named.try_emplace(*tensor.storage, all.size()).first->second : all.size();
    if (at == all.size()) all.push_back({tensor.bytes, tensor.scope, {}});
    all[at].bytes = std::max(all[at].bytes, tensor.bytes);
    all[at].tensors.push_back(i);
    all[at].stays = all[at].stays || tensor.stays;
  }
  return all;
}

Bytes saved_bytes(const BlockProfile& block) {
  Bytes sum;
  for (const SavedStorage& storage : storages(block)) sum += storage.bytes;
  return sum;
}

}  // namespace stowage
