// The memory of the host device: every tensor that LibTorch makes on the CPU lives here.
//
// It replaces LibTorch's allocator for the whole process. Counting is exact whichever thread allocates or
// frees. Freed blocks are kept, by size class, for the next request: fresh pages from the system would cost
// more than the arithmetic done on them. All memory is aligned to 64 bytes, so that a tensor that comes back
// from the host is computed on by the same kernels, bit for bit.
//
// Cost of a request: about 0.1 us.
#pragma once

#include <optional>

#include "runtime/memory_pool.h"

namespace stowage {

class Arena final : public MemoryPool {
 public:
  // The process's arena. It is never destroyed: tensors with static lifetime may outlive everything else.
  static Arena& instance();

  // Becomes LibTorch's CPU allocator. What was allocated before is not counted. A second call does nothing.
  void install();

  // No budget: nothing is refused, but by the system. What is live already stays, even if it is more.
  void set_budget(std::optional<Bytes> budget);
  // Returns unused blocks to the system.
  void release_unused();

  c10::DataPtr allocate(Bytes bytes) override;
  Bytes live() const override;
  Bytes take_peak() override;
  void on_shortage(std::function<bool()> make_room) override;

 private:
  Arena();
  ~Arena() override = default;
  struct Blocks;
  Blocks* const blocks_;
};

}  // namespace stowage
