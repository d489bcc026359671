// Files that come with Stowage.
#pragma once

#include <string>

namespace stowage {

// Text to train on where nobody brings any.
std::string shipped_text();

}  // namespace stowage
