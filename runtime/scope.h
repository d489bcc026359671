// Marks which part of a block is running, so that saved tensors and time can be told apart.
#pragma once

#include <functional>

#include "runtime/chain.h"
#include "traces/profile.h"

namespace stowage {

// For its lifetime, this thread is inside `scope` of a block. Guards nest; outside all of them the scope is
// `other`.
class ScopeGuard {
 public:
  explicit ScopeGuard(Scope scope);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;

 private:
  Scope outer_;
};

Scope current_scope();

// Runs a part of a block inside `scope`, and returns what the part made. The part is a function of `inputs`,
// the parameters and the random state alone, as a block is of its input, and owns what it captures: it may be
// called again when the block's forward is long over.
using ScopeBody = std::function<State(const State& inputs)>;
State in_scope(Scope scope, const State& inputs, const ScopeBody& body);

// For its lifetime, carries out what runs in_scope() on this thread. Not asked for parts within parts.
class ScopeRunner {
 public:
  ScopeRunner();
  virtual ~ScopeRunner();
  ScopeRunner(const ScopeRunner&) = delete;
  virtual State run(Scope scope, const State& inputs, const ScopeBody& body) = 0;

 private:
  ScopeRunner* const outer_;
};

// Told of each change of scope on this thread, to measure time by scope. nullptr: nobody. Returns the one
// before.
class ScopeListener {
 public:
  virtual ~ScopeListener() = default;
  virtual void on_change(Scope from, Scope to) = 0;
};
ScopeListener* listen_to_scopes(ScopeListener* listener);

}  // namespace stowage
