#include "tuner/free/free_search.h"

#include <algorithm>
#include <limits>

#include "simulator/step_times.h"
#include "tuner/free/certificate.h"
#include "tuner/free/draft.h"
#include "tuner/free/exhaustion.h"
#include "tuner/free/improvement.h"
#include "tuner/free/pattern_search.h"
#include "tuner/free/walk.h"
#include "tuner/free/weight_sets.h"
#include "tuner/parallel.h"

namespace stowage {
namespace {

constexpr std::int64_t most_plans = 30'000;                    // that are all priced, one by one
constexpr std::uint32_t short_chain = 12;                      // blocks
constexpr std::int64_t tightened_most = 6, tightened_by = 64;  // parts of the room
constexpr std::size_t most_levels = 2;  // of weights, whose directions a long chain follows
constexpr std::int64_t prefetches[] = {1, 2, 4};

struct Start {
  Merit merit;
  Draft draft;
};

class FreeSearch {
 public:
  FreeSearch(const BlockTable& table, const Machine& machine, const FreeRequest& request)
      : table_(table),
        machine_(machine),
        request_(request),
        certificate_(table, machine),
        long_(table.size() > short_chain),
        most_improved_(long_ ? 2 : 16),
        pricing_(table, machine, request.budget, request.cancelled) {}

  FreeResult run(const std::vector<Plan>& plans) {
    for (const Plan& plan : plans) price_and_offer(Draft(table_, plan));
    std::vector<Start> given = starts_;
    const Certified certified = certificate_.certify(request_.budget, fastest());
    result_.bound = certified.bound;
    if (!finished()) {
      starts_.clear();
      begin_from(certified.directions, plans);
      starts_.insert(starts_.end(), given.begin(), given.end());  // however good drafts are
      sort_starts();
      if (count_plans(table_, most_plans) < most_plans)
        visit_plans(table_, [&](const Plan& plan) { price_and_offer(Draft(table_, plan)); });
      else
        improve_all();
      sort_starts();
    }
    result_.evaluated += pricing_.priced();
    if (!starts_.empty() && starts_.front().merit.excess == Bytes{}) take(starts_.front());
    return std::move(result_);
  }

 private:
  Nanos fastest() const {
    return starts_.empty() || starts_.front().merit.excess > Bytes{} ? never : starts_.front().merit.step;
  }
  bool finished() const { return !result_.bound || fastest() <= *result_.bound; }
  void sort_starts();
  void offer(Start start);
  void price_and_offer(Draft draft);
  void follow(const Direction& direction);
  Start best_way(const std::vector<Treated>& treated, const WeightLevel& away);
  void begin_from(const std::vector<Direction>& directions, const std::vector<Plan>& plans);
  void offer_uniform();
  std::int64_t improve(Start& start) const;
  void improve_all();
  void take(Start& start);

  const BlockTable& table_;
  const Machine& machine_;
  const FreeRequest& request_;
  Certificate certificate_;
  const bool long_;
  const std::size_t most_improved_;
  Improvement pricing_;
  std::vector<Start> starts_;  // best first, some of those offered
  FreeResult result_;
};

void FreeSearch::sort_starts() {
  std::stable_sort(starts_.begin(), starts_.end(),
                   [](const Start& a, const Start& b) { return a.merit < b.merit; });
}

void FreeSearch::price_and_offer(Draft draft) {
  if (pricing_.cancelled()) return;
  const Merit merit = pricing_.price(draft);
  offer({merit, std::move(draft)});
}

void FreeSearch::offer(Start start) {
  const auto place = std::upper_bound(starts_.begin(), starts_.end(), start.merit,
                                      [](const Merit& a, const Start& b) { return a < b.merit; });
  if (place - starts_.begin() >= static_cast<std::ptrdiff_t>(most_improved_)) return;
  if (place != starts_.begin() && std::prev(place)->merit == start.merit) return;
  starts_.insert(place, std::move(start));
  if (starts_.size() > most_improved_) starts_.pop_back();
}

// One draft with each choice of blocks to swap, each as far ahead as is best: the best of these.
Start FreeSearch::best_way(const std::vector<Treated>& treated, const WeightLevel& away) {
  Draft draft(table_, treated);
  Start best{{Bytes{std::numeric_limits<std::int64_t>::max()}, {}, {}, {}}, draft};
  for (const auto& blocks : weight_sets(table_, away.least)) {
    swap_weights(draft, table_, blocks);
    for (std::int64_t prefetch : prefetches) {
      draft.transfer.prefetch = prefetch;
      const Merit merit = pricing_.price(draft);
      if (merit < best.merit) best = {merit, draft};
    }
  }
  return best;
}

// With less and less room, until what is drafted fits: drafts know nothing of copies under way.
void FreeSearch::follow(const Direction& direction) {
  const Bytes room = certificate_.room(request_.budget, direction.away.most);
  Bytes now = room;
  for (std::int64_t i = 0; i < tightened_most && !pricing_.cancelled(); ++i) {
    const std::vector<Treated> treated = certificate_.draft(direction, now);
    if (treated.empty()) return;
    Start best = best_way(treated, direction.away);
    const Bytes excess = best.merit.excess;
    if (excess == Bytes{} || i + 1 == tightened_most) return offer(std::move(best));
    now -= std::max(excess, Bytes{room.value / tightened_by});
  }
}

// All blocks alike, in every way: of a short chain the best plan is a few changes from one of these.
void FreeSearch::offer_uniform() {
  using Kind = Change::Kind;
  const Plan nothing = expand(table_, {}).plan;
  for (const std::vector<Kind>& kinds :
       {std::vector<Kind>{}, {Kind::keep_all_away}, {Kind::recompute}, {Kind::recompute, Kind::toggle_input}})
    for (const bool swapped : {false, true}) {
      Draft draft(table_, nothing);
      for (std::uint32_t i = 0; i < table_.size(); ++i) {
        for (Kind kind : kinds) Change{kind, i}.apply(draft, table_);
        if (swapped) Change{Kind::toggle_weights, i}.apply(draft, table_);
      }
      price_and_offer(std::move(draft));
    }
}

void FreeSearch::begin_from(const std::vector<Direction>& directions, const std::vector<Plan>& plans) {
  std::size_t levels = 0;
  for (std::size_t i = 0; i < directions.size(); ++i) {  // those of one level follow one another
    levels += i == 0 || directions[i].away.least != directions[i - 1].away.least;
    if (long_ && levels > most_levels) break;
    follow(directions[i]);
  }
  if (!long_) return offer_uniform();
  const Draft base(table_, plans.empty() ? expand(table_, {}).plan : plans.front());
  search_patterns(table_, pricing_, price_of_excess(table_, machine_), base,
                  [&](const Merit& merit, Draft draft) {
                    offer({merit, std::move(draft)});
                  });
}

// A long chain by a walk; a short one thoroughly. Returns how many plans it priced.
std::int64_t FreeSearch::improve(Start& start) const {
  Improvement pricing(table_, machine_, request_.budget, request_.cancelled);
  if (long_)
    start.merit = Walk(table_, pricing, price_of_excess(table_, machine_))
                      .improve(start.draft, request_.tries / 2, *result_.bound);
  else
    start.merit = pricing.improve(start.draft, request_.tries, *result_.bound);
  return pricing.priced();
}

void FreeSearch::improve_all() {
  std::vector<std::int64_t> priced(starts_.size());
  in_parallel(
      request_.threads, static_cast<std::uint32_t>(starts_.size()),
      [&](unsigned, std::uint32_t i) { priced[i] = improve(starts_[i]); },
      [](std::uint32_t) { return true; });
  for (std::int64_t count : priced) result_.evaluated += count;
}

void FreeSearch::take(Start& start) {
  pricing_.price(start.draft);
  const Run& run = pricing_.run();
  TunedPlan best{start.draft.plan(), run};
  best.plan.predicted = prediction_of(run);
  best.plan.bound = result_.bound;
  result_.best = std::move(best);
}

}  // namespace

FreeResult search_free(const BlockTable& table, const Machine& machine, const FreeRequest& request,
                       const std::vector<Plan>& starts) {
  return FreeSearch(table, machine, request).run(starts);
}

}  // namespace stowage
