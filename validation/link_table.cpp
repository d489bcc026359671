#include "validation/link_table.h"

#include <algorithm>
#include <limits>

#include "traces/error.h"
#include "validation/cells.h"

namespace stowage {
std::vector<LinkRow> parse_links(const std::string& text) {
  std::vector<LinkRow> links;
  for (const CsvRow& row : parse_csv(text, {"gpu", "h2d_gib_per_second", "d2h_gib_per_second"}))
    links.push_back({row.text("gpu"), Rate{gib_in(row, "h2d_gib_per_second").value},
                     Rate{gib_in(row, "d2h_gib_per_second").value}});
  return links;
}

Machine machine_with_links(const std::vector<LinkRow>& links, const std::string& gpu) {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const LinkRow& link) { return link.gpu == gpu; });
  if (found == links.end()) throw InputError("", "", "no links are known of the GPU \"" + gpu + "\"");
  Machine machine = ample_machine();
  machine.name = gpu;
  machine.links.h2d.rate = found->h2d;
  machine.links.d2h.rate = found->d2h;
  machine.links.pageable = found->h2d;
  return machine;
}

Machine ample_machine() {
  Machine machine;
  machine.name = "ample";
  machine.device.memory = Bytes{std::numeric_limits<std::int64_t>::max()};
  machine.host.memory = machine.host.pinned_limit = machine.device.memory;
  machine.links.h2d.rate = machine.links.d2h.rate = machine.links.pageable =
      Rate{std::numeric_limits<std::int64_t>::max()};
  return machine;
}

}  // namespace stowage
