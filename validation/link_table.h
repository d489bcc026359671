// How fast published machines copy between host and device.
#pragma once

#include <string>
#include <vector>

#include "traces/machine.h"

namespace stowage {

struct LinkRow {
  std::string gpu;
  Rate h2d, d2h;

  bool operator==(const LinkRow&) const = default;
};

// Columns gpu, h2d_gib_per_second and d2h_gib_per_second. Throws InputError with line and column.
std::vector<LinkRow> parse_links(const std::string& text);

// Memory without a limit, and this GPU's links, which do not disturb each other or compute. Throws InputError
// where there is no such GPU.
Machine machine_with_links(const std::vector<LinkRow>& links, const std::string& gpu);
// Memory without a limit and links that take no time.
Machine ample_machine();

}  // namespace stowage
