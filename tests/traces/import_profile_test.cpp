#include "traces/import/import_profile.h"

#include "tests/catch.h"

using namespace stowage;

namespace {

ImportReport report_of_two_blocks() {
  ImportReport report;
  for (const char* name : {"Layer_0", "Layer_1"}) {
    ImportedBlock block;
    block.name = name;
    block.group = "Layer";
    block.forward = {100};
    block.backward = {210};
    block.bytes = {
        .saved = {60}, .output = {8}, .forward_workspace = {5}, .gradient = {7}, .backward_rise = {22}};
    for (const int forward : {90, 100, 130}) block.passes.push_back({{forward}, {210}, {}, true});
    report.found.blocks.push_back(block);
  }
  report.time.emplace();
  report.time->steps = {{.prologue = {1}, .epilogue = {3}, .backward = {10}, .optimizer = {50}},
                        {.prologue = {2}, .epilogue = {4}, .backward = {20}, .optimizer = {60}},
                        {.prologue = {9}, .epilogue = {5}, .backward = {30}, .optimizer = {70}}};
  report.steps = {{{0}, {900}, Bytes{1200}, Bytes{1008}}};
  report.memory.emplace();
  report.memory->account.peak = {1200};
  report.memory->account.owners = {{60}, {60}};
  return report;
}

}  // namespace

TEST_CASE("a profile takes a block's times, and its bytes without the output") {
  const Profile profile = profile_of(report_of_two_blocks(), "run 7");
  REQUIRE(profile.name == "run 7");
  REQUIRE(profile.blocks.size() == 2);
  const BlockProfile& block = profile.blocks[1];
  REQUIRE(block.name == "Layer_1");
  REQUIRE(!block.group);  // all of one kind
  REQUIRE(block.times.forward == Nanos{100});
  REQUIRE(block.times.backward == Nanos{210});
  REQUIRE(block.times.forward_spread == Nanos{20});  // (130 - 90) / 2
  REQUIRE(block.sizes.input == Bytes{8});
  REQUIRE(block.saved.at(0).bytes == Bytes{52});        // 60 - 8
  REQUIRE(block.sizes.backward_workspace == Bytes{7});  // 22 - 7 - 8
  REQUIRE(profile.fixed.output == Bytes{8});
  REQUIRE(profile.fixed.resident == Bytes{1000});      // 1008 - 8
  REQUIRE(profile.fixed.epilogue_bytes == Bytes{64});  // 1200 - (1000 + 8 + 2 * 60 + 8)
  REQUIRE(profile.fixed.prologue == Nanos{2});
  REQUIRE(profile.fixed.epilogue == Nanos{24});  // the middle of 13, 24, 35
  REQUIRE(profile.fixed.optimizer == Nanos{60});
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("blocks of two kinds are two groups") {
  ImportReport report = report_of_two_blocks();
  report.found.blocks[1].group = "Head";
  REQUIRE(profile_of(report, "x").blocks[0].group == "Layer");
}

TEST_CASE("without blocks the model is one") {
  ImportReport report = report_of_two_blocks();
  report.found.blocks.clear();
  report.memory->account.end = {900};
  const Profile profile = profile_of(report, "x");
  REQUIRE(profile.blocks.size() == 1);
  REQUIRE(profile.blocks[0].name == "model");
  REQUIRE(profile.blocks[0].times.forward == Nanos{6});  // the middle of 4, 6, 14
  REQUIRE(profile.blocks[0].times.backward == Nanos{20});
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("an empty report still makes a profile that reads back") {
  const Profile profile = profile_of({}, "nothing");
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("names that are no UTF-8 survive the file as far as they are") {
  ImportReport report = report_of_two_blocks();
  report.found.blocks[0].name =
      "a\xc3\xa9\xff"
      "b\xe2\x82";                                // the last character is cut
  report.found.blocks[1].group = "\xed\xa0\x80";  // half of a pair
  const Profile profile = profile_of(report, "\xc0\x80");
  REQUIRE(profile.name == "\ufffd\ufffd");
  REQUIRE(profile.blocks[0].name ==
          "a\u00e9\ufffd"
          "b\ufffd\ufffd");
  REQUIRE(parse_profile(to_json(profile)) == profile);
}
