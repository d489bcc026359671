// The search against one that leaves nothing out, on random chains.
#include <algorithm>
#include <functional>
#include <random>

#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/simulator/random_case.h"
#include "tests/tuner/every_setting.h"
#include "tuner/tuner.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

std::int64_t between(std::mt19937_64& dice, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(high - low + 1));
}

SettingsSpace random_space(std::mt19937_64& dice, std::int64_t blocks) {
  SettingsSpace space;
  space.policies.clear();
  for (Policy policy : {Policy::recompute, Policy::offload, Policy::recompute_offload})
    if (between(dice, 0, 2) > 0) space.policies.push_back(policy);
  if (between(dice, 0, 3) == 0) space.segmentings.pop_back();
  if (between(dice, 0, 2) == 0) space.max_swap_blocks = between(dice, 0, blocks);
  space.max_prefetch = between(dice, 0, blocks > 3 ? 2 : 4);
  space.max_streams = between(dice, 1, 2);
  return space;
}

// From a figure that occurs among the prices, or one beside it, so that limits are met exactly.
Bytes random_limit(std::mt19937_64& dice, const std::vector<Price>& prices, Bytes Price::*figure) {
  if (between(dice, 0, 2) == 0) return {std::int64_t{1} << 60};
  const Price& price =
      prices[static_cast<std::size_t>(between(dice, 0, static_cast<std::int64_t>(prices.size()) - 1))];
  return {std::max<std::int64_t>(0, (price.*figure).value - between(dice, 0, 1))};
}

Price price_of(const Run& run) {
  return {run.peaks.on_device(), run.step, run.peaks.host, run.peaks.host_pinned};
}

struct Trial {
  reference::Case random;
  SettingsSpace space;
  bool shared_rates;
};

// All sizes and rates as many times as large, so that times stay what they are; the arena then rounds in each
// of its ways.
void make_caching(reference::Case& random, std::int64_t times, bool expandable) {
  const auto grow = [&](Bytes& bytes) { bytes = bytes * times; };
  FixedCosts& fixed = random.profile.fixed;
  for (Bytes* bytes : {&fixed.resident, &fixed.optimizer_state, &fixed.output, &fixed.epilogue_bytes})
    grow(*bytes);
  for (BlockProfile& block : random.profile.blocks) {
    BlockSizes& sizes = block.sizes;
    for (Bytes* bytes :
         {&sizes.input, &sizes.weight, &sizes.gradient, &sizes.forward_workspace, &sizes.backward_workspace})
      grow(*bytes);
    if (sizes.dropped_workspace) grow(*sizes.dropped_workspace);
    for (ByScope<Bytes>* figures :
         {&sizes.scope_input, &sizes.scope_dropped_workspace, &sizes.scope_workspace})
      for (auto& bytes : *figures)
        if (bytes) grow(*bytes);
    for (SavedTensor& saved : block.saved) grow(saved.bytes);
  }
  Machine& machine = random.machine;
  for (Link* link : {&machine.links.h2d, &machine.links.d2h}) link->rate.bytes_per_second *= times;
  machine.arena = ArenaKind::caching;
  machine.arena_options.expandable_segments = expandable;
}

// Small chains only.
std::optional<Trial> trial(std::uint64_t seed, std::int64_t most_blocks) {
  Trial trial{reference::random_case(seed), {}, seed % 4 == 0};
  std::mt19937_64 dice(seed);
  const std::int64_t blocks = BlockTable(trial.random.profile).size();
  if (blocks > most_blocks) return {};
  trial.space = random_space(dice, blocks);
  Machine& machine = trial.random.machine;
  if (seed % 5 == 2) make_caching(trial.random, between(dice, 1, 300'000), seed % 2 == 0);
  if (seed % 3 == 0) machine.host.pinned_rounding = PinnedRounding::pow2;
  if (seed % 7 == 3) machine.host.device_margin = Bytes{between(dice, 0, 20)};
  if (trial.shared_rates) {
    machine.links.duplex = 0.5 + 0.1 * static_cast<double>(between(dice, 0, 5));
    machine.links.compute_slowdown = 0.1 * static_cast<double>(between(dice, 0, 5));
  }
  return trial;
}

void require_same(const TuneResult& result, const std::vector<Price>& frontier, const Budget& budget) {
  REQUIRE(result.frontier.size() == frontier.size());
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    REQUIRE(result.frontier[i].run.peaks.on_device() == frontier[i].peak);
    REQUIRE(result.frontier[i].run.step == frontier[i].step);
    REQUIRE(result.frontier[i].run.peaks.host == frontier[i].host);
  }
  REQUIRE(result.least_bytes() == frontier.front().peak);
  REQUIRE(result.best.has_value() == (frontier.front().peak <= budget.device));
  if (!result.best) return;
  const Price best = price_of(result.best->run);
  REQUIRE(best.peak <= budget.device);
  REQUIRE(best.host <= budget.host);
  REQUIRE(best.pinned <= budget.pinned);
  Price fastest = frontier.front();
  for (const Price& price : frontier)
    if (price.peak <= budget.device) fastest = price;
  REQUIRE(best.step == fastest.step);
  if (!result.null_fits) REQUIRE(best.peak == fastest.peak);
  REQUIRE(result.bound == best.step);
}

struct Tally {
  int infeasible = 0, spared = 0;
};

// Three budgets for each of so many trials, from the same seed on.
Tally search_against_everything(int wanted, const std::function<void(Trial&, std::uint64_t seed)>& adapt) {
  Tally tally;
  int done = 0;
  for (std::uint64_t seed = 0; done < wanted; ++seed) {
    CAPTURE(seed);
    std::optional<Trial> now = trial(seed, seed % 16 == 1 ? 5 : 3);
    if (!now) continue;
    ++done;
    adapt(*now, seed);
    const BlockTable table(now->random.profile);
    const Machine& machine = now->random.machine;
    const std::vector<Price> prices = price_every_setting(table, machine, now->space);
    std::mt19937_64 dice(seed + 1);
    for (int i = 0; i < 3; ++i) {
      TuneRequest request;
      request.space = now->space;
      request.budget = {random_limit(dice, prices, &Price::peak), random_limit(dice, prices, &Price::host),
                        random_limit(dice, prices, &Price::pinned)};
      const TuneResult result = tune(table, machine, request);
      require_same(result, frontier_of(prices, request.budget), request.budget);
      tally.infeasible += !result.best;
      tally.spared += result.evaluated < result.considered;
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("the search finds what a search of everything finds") {
  const int wanted = static_cast<int>(cases(50));
  const Tally tally = search_against_everything(wanted, [](Trial&, std::uint64_t) {});
  // The trials are of use.
  REQUIRE(tally.infeasible > wanted / 10);
  REQUIRE(tally.spared > wanted);
}

TEST_CASE("the search finds what a search of everything finds where pinned memory counts on the device") {
  const int wanted = static_cast<int>(cases(50));
  const Tally tally = search_against_everything(wanted, [](Trial& trial, std::uint64_t seed) {
    trial.random.machine.host.device_margin = Bytes{static_cast<std::int64_t>(seed * 7 % 21)};
  });
  REQUIRE(tally.infeasible > wanted / 10);
  REQUIRE(tally.spared > wanted);
}
