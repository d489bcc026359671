#include "traces/profile.h"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace {

using Extents = std::vector<std::int64_t>;

// The profile of the worked example, as it is printed.
const std::string example = R"({"format": "stowage.profile", "version": 1, "name": "example",
 "fixed": {"resident_bytes": 100, "output_bytes": 2, "epilogue_ns": 6, "optimizer_ns": 4},
 "blocks": [{"name": "block.0", "group": "single", "count": 4, "forward_ns": 10, "backward_ns": 20,
   "input_bytes": 2, "weight_bytes": 5, "gradient_bytes": 1,
   "forward_workspace_bytes": 3, "backward_workspace_bytes": 4,
   "saved": [{"name": "qkv", "bytes": 12, "scope": "attention"}, {"name": "hidden", "bytes": 8, "scope": "ffn"}],
   "scope_forward_ns": {"attention": 6, "ffn": 4}}]})";

std::string refused(const std::string& from, const std::string& to) {
  return refusal(parse_profile, changed(example, from, to));
}

}  // namespace

TEST_CASE("the profile of the design is read as printed") {
  const Profile profile = parse_profile(example);
  REQUIRE(profile.fixed.resident == Bytes{100});
  REQUIRE(profile.fixed.optimizer_state == Bytes{0});  // fixed keys default to 0
  REQUIRE(profile.blocks.size() == 1);
  REQUIRE(profile.blocks[0].count == 4);
  REQUIRE(profile.blocks[0].saved[1].scope == Scope::ffn);
  REQUIRE(profile.blocks[0].times.scope_forward[0] == Nanos{6});
  REQUIRE_FALSE(profile.blocks[0].times.scope_forward[2]);
  REQUIRE(profile.expanded().size() == 4);
  REQUIRE(profile.expanded()[3].count == 1);
}

TEST_CASE("profiles survive their file") {
  Profile profile = parse_profile(example);
  BlockProfile& block = profile.blocks[0];
  block.group.reset();
  block.sizes.dropped_workspace = Bytes{7};
  block.times.forward_spread = {2};
  block.saved[0].layout = TensorLayout{"float32", Extents{2, 3}, Extents{3, 1}, 4};
  block.saved[0].storage = "a";
  profile.segments_cross_groups = true;
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("wrong profiles are refused with the path of the key") {
  REQUIRE(refused("\"count\": 4", "\"count\": 0") == "blocks[0].count: expected at least 1, not 0");
  REQUIRE(refused("\"count\": 4", "\"count\": 1000001") ==
          "blocks[0].count: expected at most 1000000, not 1000001");
  REQUIRE(refused("\"count\": 4", "\"cuont\": 4") == "blocks[0].cuont: unknown key");
  REQUIRE(refused("\"forward_ns\": 10", "\"forward_ns\": -1") ==
          "blocks[0].forward_ns: expected at least 0, not -1");
  REQUIRE(refused("\"forward_ns\": 10,", "") == "blocks[0].forward_ns: the key is missing");
  REQUIRE(refused("\"bytes\": 12", "\"bytes\": \"12\"") ==
          "blocks[0].saved[0].bytes: expected an integer, not \"12\"");
  REQUIRE(refused("\"attention\"}", "\"atention\"}") ==
          "blocks[0].saved[0].scope: expected one of attention, ffn, other, not \"atention\"");
  REQUIRE(refused("\"version\": 1", "\"version\": 2") == "version: expected version 1, not 2");
  REQUIRE(refused("stowage.profile", "stowage.machine") ==
          "format: expected \"stowage.profile\", not \"stowage.machine\"");
  REQUIRE(refused("\"fixed\"", "\"fixd\"") == "fixd: unknown key");
  REQUIRE(refusal(parse_profile, R"({"format": "stowage.profile", "version": 1, "blocks": []})") ==
          "blocks: expected at least one block");
  REQUIRE(refusal(parse_profile, "[]") == ": expected an object, not an array");
}

TEST_CASE("figures that do not add up below 2^60 are refused where they become too much") {
  // 2^59 bytes a tensor in 4 blocks: 2^61.
  REQUIRE(
      refused("\"bytes\": 12", "\"bytes\": 576460752303423488").starts_with("blocks[0].saved[0].bytes: "));
  REQUIRE(refused("\"backward_ns\": 20", "\"backward_ns\": 576460752303423488")
              .starts_with("blocks[0].backward_ns"));
  REQUIRE(refused("\"resident_bytes\": 100", "\"resident_bytes\": 1152921504606846977")
              .starts_with("fixed.resident_bytes: "));
}

TEST_CASE("tensors of one storage are stored once, as large as the largest") {
  BlockProfile block;
  block.saved = {{"x", {8}, Scope::attention, {}, "s"},
                 {"y", {3}, Scope::ffn, {}, {}},
                 {"x.T", {9}, Scope::ffn, {}, "s"}};
  const std::vector<SavedStorage> all = storages(block);
  REQUIRE(all.size() == 2);
  REQUIRE(all[0].bytes == Bytes{9});
  REQUIRE(all[0].scope == Scope::attention);
  REQUIRE(all[0].tensors == std::vector<std::uint32_t>{0, 2});
  REQUIRE(all[1].bytes == Bytes{3});
}

TEST_CASE("a storage may be called by a number") {
  const Profile profile = parse_profile(
      changed(example, "\"scope\": \"attention\"}", "\"scope\": \"attention\", \"storage\": 3}"));
  REQUIRE(profile.blocks[0].saved[0].storage == "3");
}

TEST_CASE("the digest knows the structure and not the times") {
  const std::string digest = parse_profile(example).digest();
  REQUIRE(digest.size() == 16);
  const auto after = [&](const char* from, const char* to) {
    return parse_profile(changed(example, from, to)).digest();
  };
  REQUIRE(after("\"forward_ns\": 10", "\"forward_ns\": 11") == digest);
  REQUIRE(after("\"optimizer_ns\": 4", "\"optimizer_ns\": 5") == digest);
  REQUIRE(after("\"bytes\": 12", "\"bytes\": 13") != digest);
  REQUIRE(after("\"count\": 4", "\"count\": 5") != digest);
  REQUIRE(after("\"group\": \"single\"", "\"group\": \"double\"") != digest);
}

TEST_CASE("a damaged profile is either read or refused") {
  std::mt19937 random(7);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = example;
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(32 + random() % 95);
    if (round % 3 == 0) text.resize(random() % text.size());
    accepted += refusal(parse_profile, text) == "accepted";
  }
  REQUIRE(accepted < 5000);
}
