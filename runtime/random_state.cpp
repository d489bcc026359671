#include "runtime/random_state.h"

#include <mutex>

namespace stowage {
namespace {

at::CPUGeneratorImpl& generator() {
  return *at::detail::getDefaultCPUGenerator().get<at::CPUGeneratorImpl>();
}

}  // namespace

RandomState RandomState::now() {
  at::CPUGeneratorImpl& from = generator();
  const std::lock_guard lock(from.mutex_);
  RandomState state;
  state.engine_ = from.engine();
  state.next_float_ = from.next_float_normal_sample();
  state.next_double_ = from.next_double_normal_sample();
  return state;
}

void RandomState::put_back() const {
  at::CPUGeneratorImpl& to = generator();
  const std::lock_guard lock(to.mutex_);
  to.set_engine(engine_);
  to.set_next_float_normal_sample(next_float_);
  to.set_next_double_normal_sample(next_double_);
}

}  // namespace stowage
