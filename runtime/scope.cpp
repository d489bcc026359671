#include "runtime/scope.h"

#include <c10/util/ScopeExit.h>

#include <utility>

namespace stowage {
namespace {

thread_local Scope scope_now = Scope::other;
thread_local ScopeListener* listener_now = nullptr;
thread_local ScopeRunner* runner_now = nullptr;

void change_to(Scope scope) {
  const Scope from = std::exchange(scope_now, scope);
  if (listener_now && from != scope) listener_now->on_change(from, scope);
}

}  // namespace

ScopeGuard::ScopeGuard(Scope scope) : outer_(scope_now) {
  change_to(scope);
}

ScopeGuard::~ScopeGuard() {
  change_to(outer_);
}

Scope current_scope() {
  return scope_now;
}

State in_scope(Scope scope, const State& inputs, const ScopeBody& body) {
  const ScopeGuard guard(scope);
  ScopeRunner* const runner = std::exchange(runner_now, nullptr);
  const auto put_back = c10::make_scope_exit([&] { runner_now = runner; });
  return runner ? runner->run(scope, inputs, body) : body(inputs);
}

ScopeRunner::ScopeRunner() : outer_(std::exchange(runner_now, this)) {}

ScopeRunner::~ScopeRunner() {
  runner_now = outer_;
}

ScopeListener* listen_to_scopes(ScopeListener* listener) {
  return std::exchange(listener_now, listener);
}

}  // namespace stowage
