// Ctrl-C as a wish to have the best so far.
#pragma once

namespace stowage {

// While one exists the first interrupt is noted, and the second ends the program as it always does.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // On any thread; false where none exists.
  static bool requested();
};

}  // namespace stowage
