#include "runtime/scope.h"

#include <utility>

namespace stowage {
namespace {

thread_local Scope scope_now = Scope::other;
thread_local ScopeListener* listener_now = nullptr;

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

State in_scope(Scope scope, const State& inputs, ScopeBody body) {
  const ScopeGuard guard(scope);
  return body(inputs);
}

ScopeListener* listen_to_scopes(ScopeListener* listener) {
  return std::exchange(listener_now, listener);
}

}  // namespace stowage
