// From two readings to a step, by hand. X is a block's input (100 bytes), S what it keeps, R everything else.
//
// Nothing checkpointed, four blocks: X_0..X_4 and 4 S are there when the loss ends; the last backward adds
// the gradient of its input: R + 6 X + 4 S. Every block checkpointed: the same with one S: R + 6 X + S. So
// readings of 10000 and 7000 bytes give 3 S = 3000, R = 10000 - 600 - 4000 = 5400.
#include "validation/calibrate.h"

#include "simulator/engine.h"
#include "simulator/verify.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/validation/small_family.h"
#include "validation/link_table.h"

using namespace stowage;
using namespace stowage::tests;

namespace calibrate_test {
namespace {

const Reading none{Nanos{100}, Bytes{10000}}, layer{Nanos{140}, Bytes{7000}};

FamilyStep step_of(const Family& family, const Reading& without = none, const Reading& with = layer) {
  return std::get<FamilyStep>(calibrate(family, without, with));
}

Reading predicted(const Family& family, const FamilyStep& step, std::int64_t interval,
                  std::optional<std::int64_t> stride = std::nullopt) {
  Settings settings;
  settings.policy = Policy::recompute;
  settings.segmenting = family.segmenting.value();
  settings.interval = interval;
  settings.stride = stride;
  return predict(step, family, settings);
}

}  // namespace

TEST_CASE("two readings give what a block keeps and what everything else takes") {
  const Family family = small_family(Segmenting::contiguous);
  const FamilyStep step = step_of(family);
  REQUIRE(step.profile.fixed.resident == Bytes{5400});
  for (const BlockProfile& block : step.profile.blocks) {
    REQUIRE(saved_bytes(block) == Bytes{1000});
    REQUIRE(block.times.forward == Nanos{10});   // 40 ns more with checkpointing, four blocks
    REQUIRE(block.times.backward == Nanos{15});  // 100 - 40, four blocks
  }
  REQUIRE(predict(step, family, std::nullopt) == none);
  REQUIRE(predicted(family, step, 1) == layer);
}

// [0 1] [2 3]: X_0, X_2 and X_4 outlive the forward; the last segment adds X_3 and 2 S, and its last backward
// the gradient of X_3: 5400 + 500 + 2000. All blocks are recomputed: 140 ns.
TEST_CASE("contiguous segments of two") {
  const Family family = small_family(Segmenting::contiguous);
  REQUIRE(predicted(family, step_of(family), 2) == Reading{Nanos{140}, Bytes{7900}});
}

// [0 1] 2 3: X_0, X_2, X_3, X_4 and 2 S, and the gradient of X_3: 5400 + 500 + 2000. Half is recomputed.
TEST_CASE("segments of two in every four") {
  const Family family = small_family(Segmenting::contiguous);
  REQUIRE(predicted(family, step_of(family), 2, 4) == Reading{Nanos{120}, Bytes{7900}});
}

// Blocks 0 and 2 alone: X_0..X_4, 2 S, the gradient of X_3: 5400 + 600 + 2000. Half is recomputed.
TEST_CASE("every second block") {
  const Family family = small_family(Segmenting::every_nth);
  REQUIRE(predicted(family, step_of(family), 2) == Reading{Nanos{120}, Bytes{8000}});
}

// Two groups of three blocks; one of the first keeps 200, one of the second 100. All six keep 900; with every
// block checkpointed the last one's 100 are there: 800 bytes are freed. R + 8 X + 900 = 15000. Work is as
// what is kept: of 450 ns forward 100 are each first block's and 50 each second's.
TEST_CASE("unlike groups, and whether the count crosses from one to the next") {
  Family family = small_family(Segmenting::every_nth);
  family.groups = {small_group("first", 3, 20), small_group("second", 3, 10)};
  const Reading without{Nanos{900}, Bytes{15000}}, with{Nanos{1350}, Bytes{14200}};
  const FamilyStep afresh = step_of(family, without, with);
  REQUIRE(saved_bytes(afresh.profile.blocks[0]) == Bytes{200});
  REQUIRE(saved_bytes(afresh.profile.blocks[5]) == Bytes{100});
  REQUIRE(afresh.profile.fixed.resident == Bytes{13300});
  // Counted afresh 0, 2, 3 and 5 are recomputed: 1, 4 and, for its backward, 5 are there.
  REQUIRE(predicted(family, afresh, 2) ==
          Reading{Nanos{900 + 100 + 100 + 50 + 50}, Bytes{13300 + 800 + 400}});
  // Counted on 0, 2 and 4 are: 1, 3 and 5 are there.
  family.segments_cross_groups = true;
  const FamilyStep counted_on = step_of(family, without, with);
  REQUIRE(predicted(family, counted_on, 2) == Reading{Nanos{900 + 100 + 100 + 50}, Bytes{13300 + 800 + 400}});
}

// Two blocks before the four are checkpointed singly whenever any block is. With layer one of 6 S is there
// instead of 6: 5 S = 5000. R = 10000 - 800 - 6000 = 3200. Segments of two count from the third block:
// X_0, X_1, X_2, X_4, X_6 outlive the forward, then X_5, its gradient and 2 S: 3200 + 700 + 2000.
TEST_CASE("blocks that are always checkpointed, whatever the interval") {
  Family family = small_family(Segmenting::contiguous);
  BlockGroup refiner = small_group("refiner", 2);
  refiner.always_checkpointed = true;
  family.groups.insert(family.groups.begin(), refiner);
  const FamilyStep step = step_of(family, {Nanos{120}, Bytes{10000}}, {Nanos{180}, Bytes{5000}});
  REQUIRE(step.profile.fixed.resident == Bytes{3200});
  REQUIRE(predicted(family, step, 2) == Reading{Nanos{180}, Bytes{5900}});
  // 0 1 | [2 3] 4 5: X_0, X_1, X_2, X_4, X_5, X_6, 2 S and a gradient; four blocks of six are recomputed.
  REQUIRE(predicted(family, step, 2, 4) == Reading{Nanos{160}, Bytes{5900}});
}

// X_1 and X_2 are read again by later blocks: segments do not free them, so they count with what always
// stays, and R is 200 bytes more. [0 1] [2 3]: R + X_0 + X_4, X_3 and its gradient, 2 S.
TEST_CASE("outputs that later blocks read again") {
  Family family = small_family(Segmenting::contiguous);
  family.segments_cross_groups = true;
  family.groups = {small_group("in", 2), small_group("out", 2)};
  family.groups[0].output_read_later = true;
  const FamilyStep step = step_of(family);
  REQUIRE(step.profile.fixed.resident == Bytes{5600});
  REQUIRE(predicted(family, step, 2) == Reading{Nanos{140}, Bytes{5600 + 400 + 2000}});
}

// 160 ns more than a step of 80 ns cannot be recomputed forwards alone. A forward is 40 at most; the other
// 120 come whenever checkpointing is on.
TEST_CASE("checkpointing that costs more than the whole step") {
  const Family family = small_family(Segmenting::every_nth);
  const FamilyStep step = step_of(family, {Nanos{80}, Bytes{10000}}, {Nanos{240}, Bytes{7000}});
  REQUIRE(step.switching == Nanos{120});
  REQUIRE(predict(step, family, std::nullopt).step == Nanos{80});
  REQUIRE(predicted(family, step, 1).step == Nanos{80 + 40 + 120});
  REQUIRE(predicted(family, step, 2).step == Nanos{80 + 20 + 120});
}

TEST_CASE("a step that is faster with checkpointing") {
  const Family family = small_family(Segmenting::every_nth);
  const FamilyStep step = step_of(family, none, {Nanos{80}, Bytes{7000}});
  REQUIRE(step.switching == Nanos{-20});
}

TEST_CASE("readings that say nothing of a block") {
  const Family family = small_family(Segmenting::contiguous);
  const auto why = [&](std::int64_t without, std::int64_t with) {
    return std::get<NoBasis>(calibrate(family, {Nanos{100}, Bytes{without}}, {Nanos{140}, Bytes{with}}));
  };
  REQUIRE(why(7000, 7000) == NoBasis::frees_nothing);
  REQUIRE(why(7000, 9000) == NoBasis::frees_nothing);
  // 3 S = 300, and 600 + 4 S = 1000 bytes are more than 900.
  REQUIRE(why(900, 600) == NoBasis::smaller);
}

// Every schedule of every family, through the engine and the verifier, which share no code.
TEST_CASE("the engine agrees, and the verifier finds nothing") {
  for (const Family& family : read_families(source_folder() + "/catalogue/families.json")) {
    if (!family.segmenting) continue;
    INFO(family.name);
    const Machine machine = ample_machine();
    const FamilyStep step = step_from_shape(family, Bytes{1}, std::nullopt);
    Settings settings;
    settings.policy = Policy::recompute;
    settings.segmenting = *family.segmenting;
    for (std::int64_t interval : {1, 2, 3}) {
      settings.interval = interval;
      settings.stride = interval + 2;
      const BlockTable table(step.profile);
      const Program program = compile(table, plan_of(table, family, settings));
      Timeline timeline;
      const Outcome outcome = Engine(machine).simulate(program, timeline);
      REQUIRE(verify(timeline, program, machine, {}) == std::vector<std::string>{});
      REQUIRE(predict(step, family, settings) == Reading{outcome.run.step, outcome.run.peaks.device});
    }
  }
}

}  // namespace calibrate_test
