// Where tests find what they need, as absolute paths.
#pragma once

#include <string>

namespace stowage::tests {

// The root of the source tree.
std::string source_folder();

// The program `stowage` of this build.
std::string program();

}  // namespace stowage::tests
