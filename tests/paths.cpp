#include "tests/paths.h"

namespace stowage::tests {

std::string source_folder() {
  return STOWAGE_SOURCE_FOLDER;
}

std::string program() {
  return STOWAGE_PROGRAM;
}

}  // namespace stowage::tests
