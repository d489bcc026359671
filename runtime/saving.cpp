#include "runtime/saving.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>

#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

namespace ag = torch::autograd;

thread_local SaveHandler* handler_now = nullptr;

// LibTorch asks the engine for default hooks at each save; the stack of Python's hooks is not involved.
class AskingEngine final : public ag::Engine {
 public:
  std::unique_ptr<ag::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return handler_now ? handler_now->next_hooks() : nullptr;
  }
  // Never destroyed: the engine's threads hold it until the process ends.
  static ag::Engine& instance() {
    static AskingEngine* const engine = new AskingEngine;
    return *engine;
  }
};

class DroppedHooks final : public ag::SavedVariableHooks {
 public:
  explicit DroppedHooks(SaveLedger& ledger) : ledger_(ledger) {}
  void call_pack_hook(const at::Tensor& tensor) override { ledger_.note(tensor); }
  at::Tensor call_unpack_hook() override {
    throw DefectError("the graph of a forward that saves nothing was used");
  }

 private:
  SaveLedger& ledger_;
};

// What is relied on is internal to LibTorch, so it is tried once before anything is built on it.
bool install() {
  ag::set_default_engine_stub(&AskingEngine::instance);
  SaveLedger saves(0);
  DropSaved dropping(saves);
  SaveHandler* const outer = std::exchange(handler_now, &dropping);
  {
    const at::AutoGradMode on(true);
    at::zeros({1}).set_requires_grad(true).exp();  // saves its result
  }
  handler_now = outer;
  if (saves.size() != 1)
    throw SystemError("saved tensors",
                      "this LibTorch does not ask who keeps the tensors that autograd saves");
  return true;
}

}  // namespace

SaveGuard::SaveGuard(SaveHandler& handler) : outer_(handler_now) {
  [[maybe_unused]] static const bool installed = install();
  handler_now = &handler;
}

SaveGuard::~SaveGuard() {
  handler_now = outer_;
}

std::unique_ptr<ag::SavedVariableHooks> DropSaved::next_hooks() {
  return std::make_unique<DroppedHooks>(ledger_);
}

}  // namespace stowage
