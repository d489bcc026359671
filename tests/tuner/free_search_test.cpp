// The search for free plans: against one that leaves nothing out where the chain is short, and what must hold
// of any answer where it is not.
#include "tuner/free/free_search.h"

#include <algorithm>
#include <random>

#include "plan/program.h"
#include "simulator/engine.h"
#include "simulator/step_times.h"
#include "tests/cases.h"
#include "tests/catch.h"
#include "tests/simulator/random_case.h"
#include "tuner/free/least_memory.h"
#include "tuner/settings_space.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr Bytes any_size{std::int64_t{1} << 60};

Plan keep_all(const BlockTable& table) {
  return expand(table, {}).plan;
}

std::uint32_t ways_of(const BlockTable& table, std::uint32_t block) {
  return 2 * ((1U << table.storages_of(block).size()) + 3);
}

// One block's ways, told by two digits: what becomes of its activations, and whether its weights are swapped.
// False where this block, after the ones before, has no such way.
bool decide(Plan& plan, const BlockTable& table, std::uint32_t block, std::uint32_t way) {
  BlockDecision& decision = plan.blocks[block] = {};
  const BlockRow& row = table.rows[block];
  if (way % 2 == 1) {
    if (row.sizes.weight == Bytes{}) return false;
    decision.weights = is_frozen(row) ? Residence::h2d : Residence::two_way;
  }
  way /= 2;
  const auto storages = table.storages_of(block);
  if (way < 1U << storages.size()) {
    for (std::uint32_t s = 0; s < storages.size(); ++s)
      if (way >> s & 1) {
        if (!storages[s].can_travel()) return false;
        decision.offload.push_back(s);
      }
    return true;
  }
  way -= 1U << storages.size();
  decision.activation = Activation::recompute;
  decision.segment = block;
  decision.offload_input = way == 1;
  if (way < 2) return true;
  if (way > 2 || block == 0 || row.group != table.rows[block - 1].group) return false;
  decision.segment = plan.blocks[block - 1].segment;
  return decision.segment.has_value();
}

Plan random_ways(const BlockTable& table, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  Plan plan = keep_all(table);
  plan.settings.reset();
  plan.transfer.prefetch = static_cast<std::int64_t>(dice() % 2);
  for (std::uint32_t i = 0; i < table.size(); ++i)
    while (!decide(plan, table, i, static_cast<std::uint32_t>(dice() % ways_of(table, i)))) continue;
  return plan;
}

struct Fastest {
  Nanos step = never;
};

void price_all(Plan& plan, const BlockTable& table, std::uint32_t block, Engine& engine, const Budget& budget,
               Fastest& fastest) {
  if (block < table.size()) {
    for (std::uint32_t way = 0; way < ways_of(table, block); ++way)
      if (decide(plan, table, block, way)) price_all(plan, table, block + 1, engine, budget, fastest);
    return;
  }
  for (std::int64_t transfers = 0; transfers < 4 * (table.size() + 1); ++transfers) {
    plan.transfer = {transfers / 4, 1 + transfers % 2, 1 + transfers / 2 % 2, {}, {}, {}};
    const Run run = engine.simulate(compile(table, plan)).run;
    if (fits(run.peaks, budget)) fastest.step = std::min(fastest.step, run.step);
  }
}

double plans_of(const BlockTable& table) {
  double count = 4.0 * (table.size() + 1);
  for (std::uint32_t i = 0; i < table.size(); ++i) count *= 2.0 * ((1U << table.storages_of(i).size()) + 3);
  return count;
}

// No scope can be recomputed, so that the search above is of everything.
Profile without_scopes(Profile profile) {
  for (BlockProfile& block : profile.blocks) block.times.scope_forward = {};
  return profile;
}

Budget just_enough(const Run& run, std::uint64_t seed) {
  if (seed % 2 == 0) return {run.peaks.on_device(), any_size, any_size};
  return {run.peaks.on_device(), run.peaks.host, run.peaks.host_pinned};
}

}  // namespace

TEST_CASE("of a short chain the search finds the best of all plans") {
  const auto wanted = static_cast<int>(cases(30));
  int done = 0, saved = 0;
  for (std::uint64_t seed = 0; done < wanted; ++seed) {
    reference::Case random = reference::random_case(seed);
    random.profile = without_scopes(random.profile);
    const BlockTable table(random.profile);
    if (plans_of(table) > 12'000) continue;
    CAPTURE(seed);
    Engine engine(random.machine);
    const Plan some = random_ways(table, seed);
    FreeRequest request;
    request.budget = just_enough(engine.simulate(compile(table, some)).run, seed);
    Fastest fastest;
    Plan plan = keep_all(table);
    plan.settings.reset();
    price_all(plan, table, 0, engine, request.budget, fastest);
    const FreeResult result = search_free(table, random.machine, request, {keep_all(table)});
    REQUIRE(result.best);
    REQUIRE(result.best->run.step == fastest.step);
    REQUIRE(result.bound);
    REQUIRE(*result.bound <= fastest.step);
    const Run null_run = engine.simulate(compile(table, keep_all(table))).run;
    saved += !fits(null_run.peaks, request.budget);
    ++done;
  }
  REQUIRE(saved > 0);  // keeping everything is not always the answer
}

TEST_CASE("what the search answers fits, is no slower than its start, and does not depend on threads") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < cases(16); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::random_case(seed);
    const BlockTable table(random.profile);
    Engine engine(random.machine);
    Settings settings = random.settings;
    settings.swap = {};
    const Plan start = expand(table, settings).plan;
    const Run run = engine.simulate(compile(table, start)).run;
    FreeRequest request;
    request.budget = just_enough(run, seed);
    request.tries = 300;
    const FreeResult result = search_free(table, random.machine, request, {start});
    REQUIRE(result.best);
    REQUIRE(result.best->run.step <= run.step);
    REQUIRE(fits(result.best->run.peaks, request.budget));
    REQUIRE(result.bound);
    REQUIRE(*result.bound <= result.best->run.step);
    check(result.best->plan, table);
    REQUIRE(engine.simulate(compile(table, result.best->plan)).run == result.best->run);
    request.threads = 3;
    const FreeResult again = search_free(table, random.machine, request, {start});
    REQUIRE(again.best->plan == result.best->plan);
    REQUIRE(again.evaluated == result.evaluated);
    found += result.best->run.step < run.step;
  }
  REQUIRE(found > static_cast<int>(cases(16)) / 8);
}

TEST_CASE("a search that is cancelled gives the best so far and the bound") {
  const reference::Case random = reference::random_case(3);
  Profile profile = random.profile;
  profile.blocks.resize(1);
  profile.blocks[0].count = 40;
  const BlockTable table(profile);
  FreeRequest request;
  const Plan start = keep_all(table);
  request.budget = just_enough(Engine(random.machine).simulate(compile(table, start)).run, 0);
  request.budget.device.value -= request.budget.device.value / 10;
  const FreeResult whole = search_free(table, random.machine, request, {start});
  request.cancelled = [] { return true; };
  const FreeResult cut = search_free(table, random.machine, request, {start});
  REQUIRE(cut.evaluated < whole.evaluated / 4);
  REQUIRE(cut.bound == whole.bound);
  if (cut.best) REQUIRE(fits(cut.best->run.peaks, request.budget));
}

TEST_CASE("the least memory is what a search still finds, and no more") {
  for (std::uint64_t seed = 0; seed < cases(3); ++seed) {
    CAPTURE(seed);
    const reference::Case random = reference::random_case(seed);
    const BlockTable table(random.profile);
    FreeRequest request;
    request.budget = {{}, any_size, any_size};
    request.tries = 100;
    const Plan start = keep_all(table);
    const TunedPlan least = least_memory(table, random.machine, request, start);
    const Bytes peak = least.run.peaks.on_device();
    const auto found_within = [&](Bytes device) {
      request.budget.device = device;
      return search_free(table, random.machine, request, {start}).best ||
             fits(least_memory(table, random.machine, request, start).run.peaks, request.budget);
    };
    REQUIRE(found_within(peak));
    if (peak > Bytes{}) REQUIRE_FALSE(found_within(peak - Bytes{1}));
  }
}
