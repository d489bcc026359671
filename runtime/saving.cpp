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
  void call_pack_hook(const at::Tensor&) override {}
  at::Tensor call_unpack_hook() override {
    throw DefectError("the graph of a forward that saves nothing was used");
  }
};

class CountingHandler final : public SaveHandler {
 public:
  std::unique_ptr<ag::SavedVariableHooks> next_hooks() override {
    ++saves;
    return std::make_unique<DroppedHooks>();
  }
  int saves = 0;
};

// What is relied on is internal to LibTorch, so it is tried once before anything is built on it.
bool install() {
  ag::set_default_engine_stub(&AskingEngine::instance);
  CountingHandler counting;
  SaveHandler* const outer = std::exchange(handler_now, &counting);
  {
    const at::AutoGradMode on(true);
    at::zeros({1}).set_requires_grad(true).exp();  // saves its result
  }
  handler_now = outer;
  if (counting.saves != 1)
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
  return std::make_unique<DroppedHooks>();
}

}  // namespace stowage
