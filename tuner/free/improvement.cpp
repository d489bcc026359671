#include "tuner/free/improvement.h"

#include <algorithm>
#include <utility>

#include "tuner/settings_space.h"

namespace stowage {
namespace {

// Blocks of one kind may take over each other's decisions.
bool one_kind(const BlockTable& table, std::uint32_t a, std::uint32_t b) {
  const BlockRow &x = table.rows[a], &y = table.rows[b];
  const auto s = table.storages_of(a), t = table.storages_of(b);
  if (x.group != y.group || x.sizes.weight != y.sizes.weight || is_frozen(x) != is_frozen(y)) return false;
  for (std::size_t scope = 0; scope < scope_count; ++scope)
    if (x.scope_forward[scope].has_value() != y.scope_forward[scope].has_value()) return false;
  return std::equal(s.begin(), s.end(), t.begin(), t.end(), [](const SavedStorage& p, const SavedStorage& q) {
    return p.bytes == q.bytes && p.scope == q.scope;
  });
}

// Of each block the first of its kind.
std::vector<std::uint32_t> kinds_of(const BlockTable& table) {
  std::vector<std::uint32_t> kinds, firsts;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const auto first = std::find_if(firsts.begin(), firsts.end(),
                                    [&](std::uint32_t kind) { return one_kind(table, kind, i); });
    kinds.push_back(first == firsts.end() ? i : *first);
    if (first == firsts.end()) firsts.push_back(i);
  }
  return kinds;
}

}  // namespace

Merit merit_of(const Run& run, const Budget& budget) {
  const auto over = [](Bytes needs, Bytes has) { return std::max(Bytes{}, needs - has); };
  const Peaks& peaks = run.peaks;
  return {over(peaks.on_device(), budget.device) + over(peaks.host, budget.host) +
              over(peaks.host_pinned, budget.pinned),
          run.step, peaks.on_device(), peaks.host};
}

Improvement::Improvement(const BlockTable& table, const Machine& machine, const Budget& budget)
    : table_(table), budget_(budget), pricer_(table, machine), kinds_(kinds_of(table)) {}

Merit Improvement::price(Draft& draft) {
  ++priced_;
  run_ = pricer_.price(draft.plan());
  return merit_of(run_, budget_);
}

bool Improvement::finished() const {
  return priced_ >= last_try_ || (merit_.excess == Bytes{} && merit_.step <= enough_);
}

template <class Change>
bool Improvement::attempt(const Change& change) {
  if (finished()) return false;
  Draft changed = *draft_;
  change(changed);
  if (changed == *draft_) return false;
  const Merit merit = price(changed);
  if (merit >= merit_) return false;
  merit_ = merit;
  *draft_ = std::move(changed);
  return true;
}

bool Improvement::change_transfers() {
  bool better = false;
  const std::int64_t most = table_.size();
  for (std::int64_t by : {1, -1, 2, -2, 4, 8, -8}) {
    const std::int64_t prefetch = draft_->transfer.prefetch + by;
    if (prefetch >= 0 && prefetch <= most)
      better |= attempt([&](Draft& draft) { draft.transfer.prefetch = prefetch; });
  }
  better |= attempt([](Draft& draft) { draft.transfer.h2d_streams = 3 - draft.transfer.h2d_streams; });
  better |= attempt([](Draft& draft) { draft.transfer.d2h_streams = 3 - draft.transfer.d2h_streams; });
  return better;
}

bool Improvement::change_weights(std::uint32_t block) {
  const BlockRow& row = table_.rows[block];
  if (row.sizes.weight == Bytes{}) return false;
  const bool resident = draft_->decision(block).weights == Residence::resident;
  const Residence other = !resident          ? Residence::resident
                          : is_frozen(row)   ? Residence::h2d
                                             : Residence::two_way;
  return attempt([&](Draft& draft) { draft.set_weights(block, other); });
}

bool Improvement::change_block(std::uint32_t block) {
  bool better = attempt([&](Draft& draft) { draft.keep(block, false); });
  better |= attempt([&](Draft& draft) { draft.keep(block, true); });
  better |= attempt([&](Draft& draft) { draft.recompute(block, {}); });
  for (Scope scope : {Scope::attention, Scope::ffn, Scope::other})
    if (table_.rows[block].scope_forward[static_cast<std::size_t>(scope)])
      better |= attempt([&](Draft& draft) { draft.recompute(block, scope); });
  better |= attempt([&](Draft& draft) { draft.toggle_join(block); });
  better |= attempt([&](Draft& draft) { draft.toggle_input(block); });
  const auto storages = table_.storages_of(block);
  for (std::uint32_t s = 0; s < storages.size(); ++s)
    if (storages[s].bytes > Bytes{})
      better |= attempt([&](Draft& draft) { draft.toggle_storage(block, s); });
  return better | change_weights(block);
}

bool Improvement::exchange_with_later(std::uint32_t block) {
  bool better = false;
  for (std::uint32_t other = block + 1; other < table_.size(); ++other)
    if (kinds_[block] == kinds_[other] && !draft_->same(block, other))
      better |= attempt([&](Draft& draft) { draft.exchange(block, other); });
  return better;
}

Merit Improvement::improve(Draft& draft, std::int64_t tries, Nanos enough) {
  draft_ = &draft;
  last_try_ = priced_ + tries;
  enough_ = enough;
  merit_ = price(draft);
  for (bool better = true; better && !finished();) {
    better = change_transfers();
    for (std::uint32_t block = 0; block < table_.size(); ++block) better |= change_block(block);
    for (std::uint32_t block = 0; block < table_.size(); ++block) better |= exchange_with_later(block);
  }
  return merit_;
}

}  // namespace stowage
