#include "tuner/free/improvement.h"

#include <algorithm>
#include <utility>

#include "tuner/settings_space.h"

namespace stowage {
namespace {

constexpr std::int64_t priced_between = 64;  // questions whether the search is cancelled

// Blocks of one kind may take over each other's decisions.
bool alike(const BlockTable& table, std::uint32_t a, std::uint32_t b) {
  const BlockRow &x = table.rows[a], &y = table.rows[b];
  const auto s = table.storages_of(a), t = table.storages_of(b);
  if (x.group != y.group || x.sizes.weight != y.sizes.weight || is_frozen(x) != is_frozen(y)) return false;
  for (std::size_t scope = 0; scope < scope_count; ++scope)
    if (x.scope_forward[scope].has_value() != y.scope_forward[scope].has_value()) return false;
  return std::equal(s.begin(), s.end(), t.begin(), t.end(), [](const SavedStorage& p, const SavedStorage& q) {
    return p.bytes == q.bytes && p.scope == q.scope && p.stays == q.stays;
  });
}

// Of each block the first of its kind.
std::vector<std::uint32_t> kinds_of(const BlockTable& table) {
  std::vector<std::uint32_t> kinds, firsts;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const auto first =
        std::find_if(firsts.begin(), firsts.end(), [&](std::uint32_t kind) { return alike(table, kind, i); });
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

Improvement::Improvement(const BlockTable& table, const Machine& machine, const Budget& budget,
                         std::function<bool()> cancelled)
    : table_(table),
      budget_(budget),
      pricer_(table, machine),
      kinds_(kinds_of(table)),
      cancelled_(std::move(cancelled)) {
  changes_ = changes_of_transfers();
  for (std::uint32_t block = 0; block < table.size(); ++block) {
    const std::vector<Change> more = changes_of(table, block);
    changes_.insert(changes_.end(), more.begin(), more.end());
  }
}

Merit Improvement::price(Draft& draft) {
  if (++priced_ % priced_between == 0 && cancelled_) is_cancelled_ |= cancelled_();
  run_ = pricer_.price(draft.plan());
  return merit_of(run_, budget_);
}

bool Improvement::finished() const {
  return is_cancelled_ || priced_ >= last_try_ || (merit_.excess == Bytes{} && merit_.step <= enough_);
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

bool Improvement::try_changes() {
  bool better = false;
  for (const Change& change : changes_) better |= attempt([&](Draft& draft) { change.apply(draft, table_); });
  return better;
}

// Where all pairs are few. A pair may be for the better though neither change is.
bool Improvement::try_pairs() {
  if (static_cast<std::int64_t>(changes_.size() * changes_.size()) > last_try_ - priced_) return false;
  for (const Change& first : changes_)
    for (const Change& second : changes_)
      if (attempt([&](Draft& draft) {
            first.apply(draft, table_);
            second.apply(draft, table_);
          }))
        return true;
  return false;
}

bool Improvement::exchange_with_later(std::uint32_t block) {
  bool better = false;
  for (std::uint32_t other = block + 1; other < table_.size(); ++other)
    if (one_kind(block, other) && !draft_->same(block, other))
      better |= attempt([&](Draft& draft) { draft.exchange(block, other); });
  return better;
}

void Improvement::climb() {
  for (bool better = true; better && !finished();) {
    better = try_changes();
    for (std::uint32_t block = 0; block < table_.size(); ++block) better |= exchange_with_later(block);
    if (!better) better = try_pairs();
  }
}

// Some changes at random, whether or not they are for the better.
void Improvement::kick(Draft& draft) {
  for (std::uint64_t i = 0, changes = 2 + dice_() % 3; i < changes; ++i)
    changes_[dice_() % changes_.size()].apply(draft, table_);
}

Merit Improvement::improve(Draft& draft, std::int64_t tries, Nanos enough) {
  draft_ = &draft;
  last_try_ = priced_ + tries;
  enough_ = enough;
  merit_ = price(draft);
  climb();
  Draft best = draft;
  Merit best_merit = merit_;
  while (!finished()) {
    kick(draft);
    merit_ = price(draft);
    climb();
    if (merit_ < best_merit) {
      best_merit = merit_;
      best = draft;
    } else {
      merit_ = best_merit;
      draft = best;
    }
  }
  draft = best;
  return best_merit;
}

}  // namespace stowage
