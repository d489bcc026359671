#include "tuner/free/change.h"

#include "tuner/settings_space.h"

namespace stowage {
namespace {

void add_prefetch(Draft& draft, std::int64_t by) {
  const std::int64_t prefetch = draft.transfer.prefetch + by;
  if (prefetch >= 0 && prefetch <= 2 * static_cast<std::int64_t>(draft.size()))
    draft.transfer.prefetch = prefetch;
}

}  // namespace

void Change::apply(Draft& draft, const BlockTable& table) const {
  switch (kind) {
    case Kind::keep:
      return draft.keep(block, false);
    case Kind::keep_all_away:
      return draft.keep(block, true);
    case Kind::recompute:
      return draft.recompute(block, {});
    case Kind::recompute_scope:
      return draft.recompute(block, static_cast<Scope>(which));
    case Kind::toggle_join:
      return draft.toggle_join(block);
    case Kind::toggle_input:
      return draft.toggle_input(block);
    case Kind::toggle_storage:
      return draft.toggle_storage(block, static_cast<std::uint32_t>(which));
    case Kind::toggle_weights:
      return draft.set_weights(block, draft.decision(block).weights == Residence::resident
                                          ? swapped(table.rows[block])
                                          : Residence::resident);
    case Kind::add_prefetch:
      return add_prefetch(draft, which);
    case Kind::toggle_h2d_streams:
      draft.transfer.h2d_streams = draft.transfer.h2d_streams > 1 ? 1 : 2;
      return;
    case Kind::toggle_d2h_streams:
      draft.transfer.d2h_streams = draft.transfer.d2h_streams > 1 ? 1 : 2;
      return;
  }
}

std::vector<Change> changes_of(const BlockTable& table, std::uint32_t block) {
  using Kind = Change::Kind;
  std::vector<Change> changes{{Kind::keep, block},
                              {Kind::keep_all_away, block},
                              {Kind::recompute, block},
                              {Kind::toggle_join, block},
                              {Kind::toggle_input, block}};
  const BlockRow& row = table.rows[block];
  for (std::int32_t scope = 0; scope < scope_count; ++scope)
    if (row.scope_forward[static_cast<std::size_t>(scope)])
      changes.push_back({Kind::recompute_scope, block, scope});
  const auto storages = table.storages_of(block);
  for (std::uint32_t s = 0; s < storages.size(); ++s)
    if (storages[s].can_travel())
      changes.push_back({Kind::toggle_storage, block, static_cast<std::int32_t>(s)});
  if (row.sizes.weight > Bytes{}) changes.push_back({Kind::toggle_weights, block});
  return changes;
}

std::vector<Change> changes_of_transfers() {
  using Kind = Change::Kind;
  std::vector<Change> changes;
  for (std::int32_t by : {1, -1, 2, -2, 4, 8, -8}) changes.push_back({Kind::add_prefetch, 0, by});
  changes.push_back({Kind::toggle_h2d_streams});
  changes.push_back({Kind::toggle_d2h_streams});
  return changes;
}

}  // namespace stowage
