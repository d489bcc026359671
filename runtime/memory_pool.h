// Memory of a device, as the runtime takes it: counted to the byte, and never more than the budget.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <functional>
#include <string>

#include "plan/program.h"
#include "traces/units.h"

namespace stowage {

// What a budget had to refuse. The text names all of it: "device memory: requested 4096 B, live 9000 B,
// budget 10000 B".
struct Refusal {
  Space space;
  Bytes requested, live, budget;

  std::string text() const;
};

// Thrown by pools. It is LibTorch's own out-of-memory error, so that whoever knows that one knows this one,
// and it passes through autograd unchanged.
class MemoryRefused : public c10::OutOfMemoryError {
 public:
  explicit MemoryRefused(const Refusal& refusal);
  const Refusal& refusal() const { return refusal_; }

 private:
  Refusal refusal_;
};

class MemoryPool {
 public:
  virtual ~MemoryPool() = default;
  // Freed by its owner, on any thread. Throws MemoryRefused; nothing has changed then.
  virtual c10::DataPtr allocate(Bytes bytes) = 0;
  // Bytes asked for and not freed yet, without rounding.
  virtual Bytes live() const = 0;
  // The most that was live since the last call; starts anew from what is live now.
  virtual Bytes take_peak() = 0;
  // Called on the allocating thread when the budget is about to refuse: true means that something was freed
  // and the request is worth another try. Empty: nobody is asked.
  virtual void on_shortage(std::function<bool()> make_room) = 0;
};

}  // namespace stowage
