#include "tuner/free/walk.h"

#include <algorithm>
#include <utility>

#include "tuner/copy_costs.h"

namespace stowage {
namespace {

// Of the first plan's step: how much worse a change may make a plan at the begin of a walk.
constexpr double worse_at_first = 0.0004;
constexpr std::uint32_t near = 12,
                        beside = 4;  // blocks that exchange, and change together, are no further apart

double as_double(auto quantity) {
  return static_cast<double>(quantity.value);
}

}  // namespace

double price_of_excess(const BlockTable& table, const Machine& machine) {
  const CopyCosts costs(table, machine);
  double bytes = 0, time = 0;
  for (const auto* cargos : {&costs.weights, &costs.storages})
    for (const Cargo& cargo : *cargos) {
      bytes += as_double(cargo.bytes);
      time += as_double(cargo.restore);
    }
  return bytes > 0 ? 2 * time / bytes : 1;
}

double cost_of(const Merit& merit, double excess_price) {
  return as_double(merit.step) + excess_price * as_double(merit.excess);
}

Walk::Walk(const BlockTable& table, Improvement& pricing, double excess_price)
    : table_(table), pricing_(pricing), excess_price_(excess_price) {
  for (std::uint32_t block = 0; block < table.size(); ++block) of_blocks_.push_back(changes_of(table, block));
}

void Walk::change_one(Draft& draft, std::uint32_t block) {
  const std::vector<Change>& changes = of_blocks_[block];
  changes[pick(changes.size())].apply(draft, table_);
}

// One of two blocks, of any kinds, instead of the other.
void Walk::recompute_instead(Draft& draft, std::uint32_t a, std::uint32_t b) {
  if (draft.whole(a) == draft.whole(b)) return;
  if (draft.whole(b)) std::swap(a, b);
  draft.keep(a, false);
  draft.recompute(b, {});
}

void Walk::change(Draft& draft) {
  const std::uint32_t kind = pick(20), block = pick(table_.size());
  if (kind == 0) return of_transfers_[pick(of_transfers_.size())].apply(draft, table_);
  if (kind < 6) {
    const std::uint32_t other = std::min(block + 1 + pick(near), table_.size() - 1);
    if (pricing_.one_kind(block, other)) draft.exchange(block, other);
    return;
  }
  if (kind < 8) return recompute_instead(draft, block, pick(table_.size()));
  change_one(draft, block);
  if (kind >= 18)
    change_one(draft, pick(table_.size()));
  else if (kind >= 15)
    change_one(draft, (block + table_.size() - beside + pick(2 * beside + 1)) % table_.size());
}

Merit Walk::improve(Draft& draft, std::int64_t tries, Nanos enough) {
  Draft now = draft;
  Merit merit = pricing_.price(draft), best = merit;
  const double first = worse_at_first * as_double(merit.step);
  for (std::int64_t left = tries;
       left > 0 && !pricing_.cancelled() && (best.excess > Bytes{} || best.step > enough); --left) {
    Draft changed = now;
    change(changed);
    if (changed == now) continue;
    const Merit next = pricing_.price(changed);
    if (next < best) {
      best = next;
      draft = changed;
    }
    const double may_be_worse = first * static_cast<double>(left) / static_cast<double>(tries);
    if (cost_of(next, excess_price_) > cost_of(merit, excess_price_) + may_be_worse) continue;
    merit = next;
    now = std::move(changed);
  }
  return best;
}

}  // namespace stowage
