// Where the catalogue that comes with the program lies.
#pragma once

#include <string>

namespace stowage {

// Families' shapes, as read_families() reads them.
std::string shipped_families();
// A published table by its name ("segmented_checkpointing.csv").
std::string published_table(const std::string& name);

}  // namespace stowage
