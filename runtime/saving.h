// Who decides what becomes of a tensor that autograd saves.
#pragma once

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <memory>

#include "runtime/save_ledger.h"

namespace stowage {

// Asked for a pair of hooks at each save.
class SaveHandler {
 public:
  virtual ~SaveHandler() = default;
  virtual std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() = 0;
};

// For its lifetime, `handler` decides on this thread. Guards nest. The first one in a process installs an
// autograd engine that asks; it throws SystemError where LibTorch does not ask (one that is driven by Python
// has an engine of its own).
class SaveGuard {
 public:
  explicit SaveGuard(SaveHandler& handler);
  ~SaveGuard();
  SaveGuard(const SaveGuard&) = delete;

 private:
  SaveHandler* outer_;
};

// Keeps nothing but a note of each tensor: for a pass whose graph is never used. A tensor dies with the
// operator that saved it.
class DropSaved final : public SaveHandler {
 public:
  // The ledger must outlive the pass.
  explicit DropSaved(SaveLedger& ledger) : ledger_(ledger) {}
  std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() override;

 private:
  SaveLedger& ledger_;
};

}  // namespace stowage
