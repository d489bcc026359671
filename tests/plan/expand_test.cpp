#include <string>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// One letter a block: '.' kept, 'o' offloaded, and for recomputed blocks the segment's number.
std::string picture(const Profile& profile, const Settings& settings) {
  std::string text;
  for (const BlockDecision& block : expand(BlockTable(profile), settings).plan.blocks) {
    if (block.activation == Activation::recompute)
      text += static_cast<char>('0' + *block.segment);
    else
      text += block.offload.empty() ? '.' : 'o';
  }
  return text;
}

std::string swapped(std::int64_t blocks, const SwapSettings& swap) {
  std::string text;
  Settings settings;
  settings.swap = swap;
  for (const BlockDecision& block : expand(BlockTable(example_profile(blocks)), settings).plan.blocks)
    text += block.weights == Residence::resident ? '.' : block.weights == Residence::h2d ? 'h' : 't';
  return text;
}

Settings recompute(std::int64_t interval, std::optional<std::int64_t> stride = {},
                   Segmenting segmenting = Segmenting::contiguous) {
  Settings settings;
  settings.policy = Policy::recompute;
  settings.interval = interval;
  settings.stride = stride;
  settings.segmenting = segmenting;
  return settings;
}

// Groups of the given sizes: "a", "b", ...
Profile grouped(std::initializer_list<int> sizes) {
  Profile profile = example_profile(1);
  const BlockProfile block = profile.blocks.front();
  profile.blocks.clear();
  char name = 'a';
  for (int size : sizes) {
    profile.blocks.push_back(block);
    profile.blocks.back().group = std::string(1, name++);
    profile.blocks.back().count = size;
  }
  return profile;
}

}  // namespace

TEST_CASE("contiguous segments hold the next interval blocks after every stride") {
  REQUIRE(picture(example_profile(5), recompute(1)) == "01234");
  REQUIRE(picture(example_profile(5), recompute(2)) == "00112");  // the last is short
  REQUIRE(picture(example_profile(8), recompute(2, 4)) == "00..11..");
  REQUIRE(picture(example_profile(6), recompute(2, 4)) == "00..11");
  REQUIRE(picture(example_profile(4), recompute(9)) == "0000");
  REQUIRE(picture(example_profile(4), recompute(1, 9)) == "0...");
}

TEST_CASE("every-nth makes each chosen block a segment of its own") {
  REQUIRE(picture(example_profile(8), recompute(1, {}, Segmenting::every_nth)) == "01234567");
  REQUIRE(picture(example_profile(8), recompute(2, {}, Segmenting::every_nth)) == "0.1.2.3.");  // i mod 2 = 0
  REQUIRE(picture(example_profile(8), recompute(2, 4, Segmenting::every_nth)) == "01..23..");   // i mod 4 < 2
  REQUIRE(picture(example_profile(3), recompute(2, 2, Segmenting::every_nth)) == "012");        // i mod 2 < 2
}

TEST_CASE("segments stay inside their group and count afresh in each") {
  REQUIRE(picture(grouped({3, 4}), recompute(2)) == "0012233");  // groups of 3 and 4
  REQUIRE(picture(grouped({3, 4}), recompute(1, 2)) == "0.12.3.");
  REQUIRE(picture(grouped({3, 4}), recompute(2, {}, Segmenting::every_nth)) == "0.12.3.");
  Profile across = grouped({3, 4});
  across.segments_cross_groups = true;
  REQUIRE(picture(across, recompute(2)) == "0011223");
}

TEST_CASE("blocks between segments are kept under every policy") {
  Settings settings = recompute(1, 2);
  settings.policy = Policy::offload;
  REQUIRE(picture(example_profile(4), settings) == "o.o.");
}

TEST_CASE("a scope chooses the storages that are offloaded") {
  Settings settings;
  settings.policy = Policy::offload;
  const BlockTable table(example_profile());
  REQUIRE(expand(table, settings).plan.blocks[2].offload == std::vector<std::uint32_t>{0, 1});
  settings.scope = Scope::ffn;
  REQUIRE(expand(table, settings).plan.blocks[2].offload == std::vector<std::uint32_t>{1});
  settings.scope = Scope::other;
  REQUIRE(expand(table, settings).warnings ==
          std::vector<std::string>{"policy offload frees nothing: no saved tensor has scope other"});
  settings.policy = Policy::keep;
  REQUIRE(expand(table, settings).warnings ==
          std::vector<std::string>{"scope has no effect with policy keep"});
}

TEST_CASE("what the profile says stays is not offloaded, and a plan that does it is refused") {
  Profile profile = example_profile();
  profile.blocks[0].saved[0].stays = true;
  const BlockTable table(profile);
  Settings settings;
  settings.policy = Policy::offload;
  Plan plan = expand(table, settings).plan;
  REQUIRE(plan.blocks[2].offload == std::vector<std::uint32_t>{1});
  plan.blocks[2].offload = {0, 1};
  REQUIRE_THROWS_WITH(check(plan, table), "blocks[2].offload: storage 0 stays, says the profile");
}

TEST_CASE("recompute+offload sends the input of each segment") {
  Settings settings = recompute(2);
  settings.policy = Policy::recompute_offload;
  const Plan plan = expand(BlockTable(example_profile()), settings).plan;
  REQUIRE(plan.blocks[0].offload_input);
  REQUIRE_FALSE(plan.blocks[1].offload_input);
  REQUIRE(plan.blocks[2].offload_input);
}

TEST_CASE("swapped blocks are the last, the first, or spread") {
  REQUIRE(swapped(5, {2, SwapWhich::last, SwapMode::h2d}) == "...hh");
  REQUIRE(swapped(5, {2, SwapWhich::first, SwapMode::two_way}) == "tt...");
  REQUIRE(swapped(5, {2, SwapWhich::spread, SwapMode::h2d}) ==
          "h.h..");  // floor(0*5/2) = 0, floor(1*5/2) = 2
  REQUIRE(swapped(5, {3, SwapWhich::spread, SwapMode::h2d}) ==
          "hh.h.");  // 0, floor(5/3) = 1, floor(10/3) = 3
}

TEST_CASE("a swap count beyond n-1 is clamped with a warning") {
  REQUIRE(swapped(3, {7, SwapWhich::last, SwapMode::h2d}) == ".hh");
  REQUIRE(swapped(1, {1, SwapWhich::last, SwapMode::h2d}) == ".");
  Settings settings;
  settings.swap.blocks = 7;
  REQUIRE(expand(BlockTable(example_profile(3)), settings).warnings.size() == 1);
}

TEST_CASE("contradicting settings are refused by name") {
  const auto path_of = [](const Settings& settings) {
    try {
      check(settings);
    } catch (const InputError& error) {
      return error.path();
    }
    return std::string("accepted");
  };
  REQUIRE(path_of(recompute(3, 2)) == "stride");
  REQUIRE(path_of(recompute(0)) == "interval");
  Settings settings;
  settings.swap.blocks = -1;
  REQUIRE(path_of(settings) == "swap_blocks");
  settings = {};
  settings.transfer.prefetch = -1;
  REQUIRE(path_of(settings) == "prefetch");
  settings = {};
  settings.transfer.h2d_streams = 0;
  REQUIRE(path_of(settings) == "h2d_streams");
  REQUIRE(path_of({}) == "accepted");
}
