#include "cli/shipped_catalogue.h"

namespace stowage {

std::string shipped_families() {
  return STOWAGE_CATALOGUE_FOLDER "/families.json";
}

std::string shipped_gpus() {
  return STOWAGE_CATALOGUE_FOLDER "/gpus.json";
}

std::string published_table(const std::string& name) {
  return STOWAGE_CATALOGUE_FOLDER "/published/" + name;
}

}  // namespace stowage
