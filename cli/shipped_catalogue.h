// Where the catalogue that comes with the program lies.
#pragma once

#include <string>

namespace stowage {

// Families' shapes, as read_families() reads them.
std::string shipped_families();
// GPUs, as read_gpus() reads them.
std::string shipped_gpus();
// A published table by its name ("segmented_checkpointing.csv").
std::string published_table(const std::string& name);

}  // namespace stowage
