#include "cli/torch_shipped.h"

namespace stowage {

std::string shipped_text() {
  return STOWAGE_DATA_FOLDER "/alice.txt";
}

}  // namespace stowage
