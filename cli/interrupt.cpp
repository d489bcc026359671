#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace stowage {
namespace {

std::atomic<bool> interrupted = false;  // what a handler may write
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = false;
  std::signal(SIGINT, note);
}
Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  interrupted = false;
}

bool Interrupt::requested() {
  return interrupted;
}

}  // namespace stowage
