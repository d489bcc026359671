#include "tuner/sweep.h"

#include <algorithm>
#include <limits>

#include "plan/plan.h"

namespace stowage {
namespace {

Bound larger(const Bound& a, const Bound& b) {
  return {std::max(a.step, b.step), std::max(a.peak, b.peak)};
}

}  // namespace

Sweep::Sweep(const Field& field, const Budget& budget)
    : field_(field),
      budget_(all_pinned(budget, field.machine)),
      outlook_(field.costs),
      sketch_(field.costs, field.machine) {}

void Sweep::over(std::uint32_t shape_index, Frontier& frontier, const Judge& judge) {
  const Plan plan = expand(field_.table, field_.shapes[shape_index]).plan;
  const Shape shape(field_.table, field_.costs, plan);
  for (std::uint32_t s = 0; s < field_.swaps.size(); ++s) {
    const SwapChoice& swap = field_.swaps[s];
    // Exact: all stores of activations have been issued when the last forward ends, when nothing has come
    // back yet, and swapped weights have their place on the host all the time.
    const Bytes host = shape.host + swap.host, pinned = shape.pinned + swap.pinned;
    if (host > budget_.host || pinned > budget_.pinned) continue;
    over({shape_index, s, shape, swap, host, on_device(pinned)}, frontier, judge);
  }
}

Bytes Sweep::on_device(Bytes pinned) const {
  const std::optional<Bytes>& margin = field_.machine.host.device_margin;
  return margin && pinned > Bytes{} ? pinned + *margin : Bytes{};
}

// Prefetch is as good as endless once it reaches all restores and all uses. Streams differ in latencies only,
// between copies of one direction.
Sweep::Variants Sweep::variants_of(const Pair& pair) const {
  const std::size_t uses = 2 * pair.swap.blocks.size(), pieces = pair.shape.pieces.size();
  const std::size_t stores = pieces + (pair.swap.two_way() ? uses : 0);
  return {static_cast<std::uint32_t>(
              std::min<std::size_t>(field_.max_prefetch, std::max(uses, pair.shape.parcels.size()))),
          field_.several_h2d_streams && uses + pieces > 1, field_.several_d2h_streams && stores > 1};
}

void Sweep::over(const Pair& pair, Frontier& frontier, const Judge& judge) {
  const Variants variants = variants_of(pair);
  considered_ +=
      (variants.most_prefetch + 1) * (variants.several_h2d ? 2 : 1) * (variants.several_d2h ? 2 : 1);
  const Bound glance = pair.bound(outlook_.at_a_glance(
      pair.shape, pair.swap, field_.forward.least_end(pair.swap_index), variants.most_prefetch));
  if (frontier.covers(pair.standing(glance, {0, false, false}))) return;
  uses_.list(pair.shape, pair.swap);
  outlook_.look_at(pair.shape, pair.swap, uses_);
  for (std::uint32_t prefetch = 0; prefetch <= variants.most_prefetch; ++prefetch) {
    const Bound outlook = pair.bound(outlook_.with(prefetch, field_.forward.end(pair.swap_index, prefetch)));
    over(pair, prefetch, variants, larger(glance, outlook), frontier, judge);
  }
}

// In the device's own bounds, as a sketch finds them; `floor` has in it what is pinned. What takes longer
// than a plan that is no larger is covered, so that its peak is of no interest.
Interest Sweep::interest_in(const Pair& pair, const IssueChoice& simplest, const Bound& floor,
                            const Frontier& frontier) const {
  return {frontier.fastest_within(floor.peak).value_or(Nanos{std::numeric_limits<std::int64_t>::max()}),
          [=, &pair, &frontier](const Bound& bound) {
            return frontier.covers(pair.standing(larger(floor, pair.bound(bound)), simplest));
          }};
}

// Where streams make a difference, first whether any of them is worth a sketch of its own.
void Sweep::over(const Pair& pair, std::uint32_t prefetch, const Variants& variants, const Bound& floor,
                 Frontier& frontier, const Judge& judge) {
  Bound least = floor;
  const Interest interest = interest_in(pair, {prefetch, false, false}, floor, frontier);
  if (frontier.covers(pair.standing(floor, {prefetch, false, false}))) return;
  if (variants.several_h2d || variants.several_d2h) {
    const auto sketched = sketch_.whatever_the_streams(pair.shape, pair.swap, uses_, prefetch, interest);
    if (!sketched) return;
    least = larger(floor, pair.bound(*sketched));
  }
  for (bool several_h2d : {true, false})
    for (bool several_d2h : {true, false})
      if (several_h2d <= variants.several_h2d && several_d2h <= variants.several_d2h)
        over(pair, {prefetch, several_h2d, several_d2h}, least, frontier, judge);
}

void Sweep::over(const Pair& pair, const IssueChoice& transfers, const Bound& floor, Frontier& frontier,
                 const Judge& judge) {
  const Interest interest = interest_in(pair, transfers, floor, frontier);
  if (frontier.covers(pair.standing(floor, transfers))) return;
  const auto sketched = sketch_.of(pair.shape, pair.swap, uses_, transfers, interest);
  if (!sketched || interest.hopeless(*sketched)) return;
  const Bound bound = larger(floor, pair.bound(*sketched));
  frontier.offer(pair.standing(judge(pair.standing(bound, transfers)), transfers));
}

}  // namespace stowage
