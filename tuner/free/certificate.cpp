#include "tuner/free/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "simulator/step_times.h"
#include "tuner/free/views.h"

namespace stowage {
namespace {

constexpr std::uint32_t grains_about = 4096, draft_grains_about = 1536;
constexpr std::size_t most_prices = 10, promising_levels = 8;
constexpr Bytes no_limit{std::numeric_limits<std::int64_t>::max() / 4};

Bytes held_by(const Treatment& treatment) {
  return treatment.held;
}
// On the host, where all travels that may.
Bytes pinned_by(const Treatment& treatment) {
  if (treatment.divisible())
    return Bytes{
        static_cast<std::int64_t>(treatment.pinned_by_byte * static_cast<double>(treatment.movable.value))};
  return treatment.travels.empty() ? Bytes{} : treatment.travels.back().pinned;
}

// What a byte costs that recomputing spares: at these prices plans change from one to the other. The highest
// is above all of them, so that hardly anything travels.
std::vector<double> choose_prices(const std::vector<std::vector<Treatment>>& by_end,
                                  Bytes (*bytes_of)(const Treatment&)) {
  std::vector<double> prices;
  for (const auto& treatments : by_end)
    for (const Treatment& treatment : treatments) {
      const Bytes kept = bytes_of(treatments.front()), rest = bytes_of(treatment);
      if (treatment.end - treatment.begin > 1 || treatment.cost == Nanos{} || rest >= kept) continue;
      prices.push_back(static_cast<double>(treatment.cost.value) / static_cast<double>((kept - rest).value));
    }
  std::sort(prices.begin(), prices.end());
  const auto close = [](double a, double b) { return b < a * 1.0001; };
  prices.erase(std::unique(prices.begin(), prices.end(), close), prices.end());
  while (prices.size() > most_prices) {  // the pair that differs least
    std::size_t least = 1;
    for (std::size_t i = 2; i < prices.size(); ++i)
      if (prices[i] / prices[i - 1] < prices[least] / prices[least - 1]) least = i;
    prices.erase(prices.begin() + static_cast<std::ptrdiff_t>(least));
  }
  prices.insert(prices.begin(), 0);
  prices.push_back(prices.back() * 100 + 1);
  return prices;
}

// Of all blocks, each with the treatment of which it is most.
Bytes most_in_all(const std::vector<std::vector<Treatment>>& by_end, Bytes (*bytes_of)(const Treatment&)) {
  Bytes sum;
  for (const auto& treatments : by_end) {
    Bytes most;
    for (const Treatment& treatment : treatments) most = std::max(most, bytes_of(treatment));
    sum += most;
  }
  return sum;
}

}  // namespace

struct Certificate::State {
  State(const BlockTable& whole, const Machine& machine)
      : table(whole),
        has_disk(machine.disk),
        fixed(table.fixed.resident + table.fixed.optimizer_state),
        epilogue(epilogue_need(table)),
        levels(weight_levels(table)),
        views(table, machine),
        by_end(list_treatments(table, machine.device.usable() - fixed, true, machine.host.pinned_rounding)),
        prices(choose_prices(by_end, held_by)),
        pinned_prices(choose_prices(by_end, pinned_by)),
        most_pinned(static_cast<double>(most_in_all(by_end, pinned_by).value)),
        most_held(std::min(most_in_all(by_end, held_by), std::max(Bytes{}, machine.device.usable() - fixed))),
        relaxation(by_end, choose_grains(by_end, most_held, grains_about)),
        drafting(by_end, choose_grains(by_end, most_held, draft_grains_about)) {
    for (const BlockRow& row : table.rows) {
      weights += row.sizes.weight;
      if (row.sizes.weight > Bytes{}) lightest = std::min(lightest, row.sizes.weight);
    }
    if (!table.layers.empty()) lightest = {};
  }

  Bytes room(const Budget& budget, Bytes away) const { return budget.device - fixed - (weights - away); }
  Bytes most_on_host(const Budget& budget) const { return has_disk ? no_limit : budget.host; }
  // What the two early views say of a level, by itself and with all that have less away.
  struct Early {
    Nanos own = never, with_less = never;
  };
  std::vector<Early> before_pricing(const Budget& budget);
  double at_first_backward(Bytes room) const;
  Rooms rooms(const WeightLevel& level, Bytes room) const;
  Nanos over_step(const WeightLevel& level, const Budget& budget, Nanos enough);
  Nanos over_step(const WeightLevel& level, const Budget& budget, bool prefetched, Nanos enough);
  double least_recomputed(const WeightLevel& level, const Budget& budget, const Rooms& rooms,
                          Bytes at_epilogue);

  const BlockTable& table;
  const bool has_disk;
  const Bytes fixed, epilogue;
  Bytes weights;              // of all blocks
  Bytes lightest = no_limit;  // of one that has any; none where parts of blocks may stream
  const std::vector<WeightLevel> levels;
  const Views views;
  const std::vector<std::vector<Treatment>> by_end;
  const std::vector<double> prices, pinned_prices;
  const double most_pinned;  // by activations
  const Bytes most_held;
  Relaxation relaxation;
  Relaxation drafting;  // the same, coarser and quicker
};

// Of the relaxation as it was solved last, without room.
double Certificate::State::at_first_backward(Bytes room) const {
  double least = Relaxation::impossible;
  for (const Treatment& last : by_end.back())
    least = std::min(
        least, static_cast<double>(last.cost.value) + relaxation.value(last.begin, room - last.resumes));
  return least;
}

std::vector<Certificate::State::Early> Certificate::State::before_pricing(const Budget& budget) {
  std::vector<std::vector<PricedLine>> epilogue_lines(levels.size()), backward_lines(levels.size());
  for (double price : prices) {
    relaxation.solve(price, {});
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const Bytes here = room(budget, levels[l].most);
      epilogue_lines[l].push_back({price, relaxation.value(table.size(), here - epilogue)});
      backward_lines[l].push_back({price, at_first_backward(here)});
    }
  }
  std::vector<Early> early(levels.size());
  Nanos at_epilogue = never, at_backward = never;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Bytes most = most_on_host(budget) - levels[l].least;
    const auto least = [&](const std::vector<TimePiece>& pieces, const auto& lines) {
      return least_step(pieces, lines, most).value_or(never);
    };
    Nanos first = never, second = never;
    for (const Views::Next next : {Views::Next::its_backward, Views::Next::another}) {
      first = std::min(first, least(views.at_epilogue(levels[l].least, next), epilogue_lines[l]));
      second = std::min(second, least(views.at_first_backward(levels[l].least, next), backward_lines[l]));
    }
    const Nanos copies = least(views.over_step(levels[l].least, true), std::vector<PricedLine>{});
    at_epilogue = std::min(at_epilogue, first);
    at_backward = std::min(at_backward, second);
    early[l] = {std::max({first, second, copies}), std::max({at_epilogue, at_backward, copies})};
  }
  return early;
}

// Of plans with these weights away, `room` being what is left with them away.
Rooms Certificate::State::rooms(const WeightLevel& level, Bytes room) const {
  const Bytes resident = weights - level.most;
  return {room + resident, resident};
}

// So that what is pinned fits on the host. What is pageable holds compute as it goes and as it comes, and so
// is a recomputation to which this applies as well: at prices no higher than what that takes.
double Certificate::State::least_recomputed(const WeightLevel& level, const Budget& budget,
                                            const Rooms& rooms, Bytes at_epilogue) {
  const double left = static_cast<double>(budget.pinned.value) -
                      views.pinned_weight() * static_cast<double>(level.least.value);
  if (has_disk || left >= most_pinned) return 0;
  double most = 0;
  for (double price : std::span(pinned_prices).subspan(1)) {  // the first is none, which is known
    const bool too_high = price > views.held_by_pageable();
    if (too_high) price = views.held_by_pageable();
    relaxation.solve(price, rooms, Priced::pinned);
    const double now = relaxation.value(table.size(), at_epilogue) - price * left;
    if (too_high || (now <= most && most > 0)) return std::max(now, most);  // concave in the price
    most = std::max(most, now);
  }
  return most;
}

// With prefetch, as with a swapped block's weights that are on their way while another computes. Some block
// before those that weigh less than what is away is swapped, and used after all of them.
Nanos Certificate::State::over_step(const WeightLevel& level, const Budget& budget, bool prefetched,
                                    Nanos enough) {
  const std::vector<TimePiece> pieces = views.over_step(level.least, prefetched);
  const Bytes most = most_on_host(budget) - level.least;
  Rooms rooms = this->rooms(level, room(budget, level.most));
  if (prefetched) {
    rooms.prefetched = true;
    if (level.least > Bytes{}) rooms.next = lightest;
    Bytes later = weights;
    while (rooms.next_after < table.size() && later >= level.least)
      later -= table.rows[rooms.next_after++].sizes.weight;
  }
  const Bytes at_epilogue = rooms.device - rooms.resident - rooms.next - epilogue;
  std::vector<PricedLine> lines;
  Nanos bound = least_step(pieces, lines, most).value_or(never);
  for (double price : prices) {
    if (bound >= enough) break;
    relaxation.solve(price, rooms);
    lines.push_back({price, relaxation.value(table.size(), at_epilogue)});
    bound = std::max(bound, least_step(pieces, lines, most).value_or(never));
  }
  if (bound >= enough) return bound;
  lines.push_back({0, least_recomputed(level, budget, rooms, at_epilogue)});
  return std::max(bound, least_step(views.over_step(level.least, true), lines, most).value_or(never));
}

// Stops where what it knows is `enough`.
Nanos Certificate::State::over_step(const WeightLevel& level, const Budget& budget, Nanos enough) {
  const Nanos waits = over_step(level, budget, false, enough);
  return std::min(waits, over_step(level, budget, true, std::min(waits, enough)));
}

Certificate::Certificate(const BlockTable& table, const Machine& machine)
    : state_(std::make_unique<State>(table, machine)) {}
Certificate::~Certificate() = default;

Bytes Certificate::room(const Budget& budget, Bytes away) const {
  return state_->room(budget, away);
}

Certified Certificate::certify(const Budget& budget, Nanos than) {
  State& state = *state_;
  if (state.views.compute() == 0) return {Nanos{}, {}};  // memory may never be counted
  const std::vector<State::Early> early = state.before_pricing(budget);
  std::vector<std::size_t> order(early.size());
  std::iota(order.begin(), order.end(), 0);
  const auto sort_by = [&](Nanos State::Early::*figure) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return early[a].*figure < early[b].*figure; });
  };
  Nanos bound = than;
  sort_by(&State::Early::with_less);
  for (std::size_t l : order) {
    if (early[l].with_less >= bound) break;
    bound = std::min(bound, std::max(early[l].with_less, state.over_step(state.levels[l], budget, bound)));
  }
  Certified certified;
  if (bound < never) certified.bound = bound;
  sort_by(&State::Early::own);
  for (std::size_t l : order) {
    if (early[l].own >= than || certified.directions.size() >= promising_levels * state.prices.size()) break;
    for (double price : state.prices) certified.directions.push_back({state.levels[l], price});
  }
  return certified;
}

std::vector<Treated> Certificate::draft(const Direction& direction, Bytes room) {
  State& state = *state_;
  state.drafting.solve(direction.price, state.rooms(direction.away, room));
  const Bytes left = room - state.epilogue;
  if (std::isinf(state.drafting.value(state.table.size(), left))) return {};
  return state.drafting.best(left);
}

}  // namespace stowage
