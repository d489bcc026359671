#include "traces/profile.h"

#include <cstdint>
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

// Every figure of a profile, its place in `blank`, and how often it counts in the sum over the chain.
struct Figure {
  std::string path, written;
  std::int64_t weight;
};

const std::string blank = R"({"format": "stowage.profile", "version": 1,
 "fixed": {"resident_bytes": 0, "optimizer_state_bytes": 0, "output_bytes": 0, "epilogue_bytes": 0,
           "prologue_ns": 0, "epilogue_ns": 0, "optimizer_ns": 0},
 "blocks": [{"count": 4, "forward_ns": 0, "backward_ns": 0, "forward_spread_ns": 0, "backward_spread_ns": 0,
   "input_bytes": 0, "weight_bytes": 0, "gradient_bytes": 0, "forward_workspace_bytes": 0,
   "backward_workspace_bytes": 0, "dropped_workspace_bytes": 0, "saved": [{"name": "x", "bytes": 0}],
   "scope_forward_ns": {"attention": 0, "ffn": 0, "other": 0}}]})";

const std::vector<Figure> every_figure = {
    {"fixed.resident_bytes", "\"resident_bytes\": ", 1},
    {"fixed.optimizer_state_bytes", "\"optimizer_state_bytes\": ", 1},
    {"fixed.output_bytes", "\"output_bytes\": ", 2},  // and its gradient
    {"fixed.epilogue_bytes", "\"epilogue_bytes\": ", 1},
    {"fixed.prologue_ns", "\"prologue_ns\": ", 1},
    {"fixed.epilogue_ns", "\"epilogue_ns\": ", 1},
    {"fixed.optimizer_ns", "\"optimizer_ns\": ", 1},
    {"blocks[0].forward_ns", "\"forward_ns\": ", 8},  // run twice where recomputed
    {"blocks[0].backward_ns", "\"backward_ns\": ", 4},
    {"blocks[0].forward_spread_ns", "\"forward_spread_ns\": ", 4},
    {"blocks[0].backward_spread_ns", "\"backward_spread_ns\": ", 4},
    {"blocks[0].input_bytes", "\"input_bytes\": ", 8},    // and its gradient
    {"blocks[0].weight_bytes", "\"weight_bytes\": ", 8},  // a copy coming, a copy going
    {"blocks[0].gradient_bytes", "\"gradient_bytes\": ", 4},
    {"blocks[0].forward_workspace_bytes", "\"forward_workspace_bytes\": ", 4},
    {"blocks[0].backward_workspace_bytes", "\"backward_workspace_bytes\": ", 4},
    {"blocks[0].dropped_workspace_bytes", "\"dropped_workspace_bytes\": ", 4},
    {"blocks[0].saved[0].bytes", "\"bytes\": ", 4},
    {"blocks[0].scope_forward_ns.attention", "\"attention\": ", 4},
    {"blocks[0].scope_forward_ns.ffn", "\"ffn\": ", 4},
    {"blocks[0].scope_forward_ns.other", "\"other\": ", 4},
};

const std::string too_much = "expected a chain whose figures add up to at most 2^60";

std::string with(const Figure& figure, const std::string& value) {
  return changed(blank, figure.written + "0", figure.written + value);
}

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
  block.sizes.scope_dropped_workspace = {Bytes{1}, {}, Bytes{0}};
  block.sizes.scope_workspace[1] = Bytes{2};
  block.sizes.backward_relief = {3};
  block.sizes.handed_on = {2};
  block.sizes.input_gradient = Bytes{1};
  block.sizes.handed_on_gradient = {1};
  block.sizes.rest_workspace = Bytes{0};
  block.layers = {{"a", Scope::ffn, {2}, {1}, {1}, Bytes{4}}, {"b", Scope::ffn, {2}, {1}, {1}, {}}};
  block.times.forward_spread = {2};
  block.saved[0].layout = TensorLayout{"float32", Extents{2, 3}, Extents{3, 1}, 4};
  block.saved[0].storage = "a";
  profile.segments_cross_groups = true;
  profile.phases = {Bytes{28}, {7}};
  REQUIRE(parse_profile(to_json(profile)) == profile);
}

TEST_CASE("costs of other phases") {
  const auto phases = [](const std::string& text) {
    return changed(example, "\"blocks\": [", "\"phases\": " + text + ", \"blocks\": [");
  };
  REQUIRE(parse_profile(phases("{\"checkpoint_bytes\": 9}")).phases == PhaseCosts{Bytes{9}, {}});
  REQUIRE(parse_profile(phases("{\"validation_bytes\": 9}")).phases == PhaseCosts{{}, {9}});
  REQUIRE(refusal(parse_profile, phases("{\"validation_bytes\": -1}")) ==
          "phases.validation_bytes: expected at least 0, not -1");
  REQUIRE(refusal(parse_profile, phases("{\"checkpoint\": 1}")) == "phases.checkpoint: unknown key");
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

TEST_CASE("no figure may be negative, fractional, text, null or beyond 63 bits") {
  for (const Figure& figure : every_figure) {
    const auto said = [&](const std::string& value) { return refusal(parse_profile, with(figure, value)); };
    REQUIRE(said("1") == "accepted");
    REQUIRE(said("-1") == figure.path + ": expected at least 0, not -1");
    REQUIRE(said("1.5") == figure.path + ": expected an integer, without point or exponent, not 1.5");
    REQUIRE(said("\"1\"") == figure.path + ": expected an integer, not \"1\"");
    REQUIRE(said("null") == figure.path + ": expected an integer, not null");
    REQUIRE(said("9223372036854775808") == figure.path + ": expected an integer below 2^63");
    REQUIRE(said("9223372036854775807") == figure.path + ": " + too_much);
  }
}

TEST_CASE("sums over the whole chain are at most 2^60") {
  const std::int64_t most = std::int64_t{1} << 60;
  for (const Figure& figure : every_figure) {
    // All other figures are 0, so `weight` times this one is the sum; `weight` is 4 blocks or 1, twice for
    // what is held or run twice.
    const std::string fits = std::to_string(most / figure.weight);
    const std::string over = std::to_string(most / figure.weight + 1);
    REQUIRE(refusal(parse_profile, with(figure, fits)) == "accepted");
    REQUIRE(refusal(parse_profile, with(figure, over)) == figure.path + ": " + too_much);
  }
  // 2^59 resident and 4 * 2^57 gradients are 2^60 in all; one byte more is refused where it is read.
  const std::string half = with(every_figure[0], std::to_string(most / 2));
  const std::string both =
      changed(half, "\"gradient_bytes\": 0", "\"gradient_bytes\": " + std::to_string(most / 8));
  REQUIRE(refusal(parse_profile, both) == "accepted");
  REQUIRE(refusal(parse_profile, changed(both, "\"bytes\": 0", "\"bytes\": 1")) ==
          "blocks[0].saved[0].bytes: " + too_much);
}

TEST_CASE("a chain has at most a million blocks, however they are listed") {
  const std::string block = R"({"count": 600000, "forward_ns": 0, "backward_ns": 0, "input_bytes": 0})";
  const std::string two =
      R"({"format": "stowage.profile", "version": 1, "blocks": [)" + block + "," + block + "]}";
  REQUIRE(refusal(parse_profile, two) == "blocks[1]: expected at most 1000000 blocks in all");
  REQUIRE(refusal(parse_profile, changed(two, "600000", "400000")) == "accepted");
}

TEST_CASE("what a profile leaves out has a default") {
  const Profile profile = parse_profile(R"({"format": "stowage.profile", "version": 1, "blocks": [
    {"name": "first", "forward_ns": 1, "backward_ns": 2, "input_bytes": 3},
    {"group": null, "forward_ns": 1, "backward_ns": 2, "input_bytes": 3, "saved": [{"name": "x", "bytes": 4}]}]})");
  REQUIRE(profile.name.empty());
  REQUIRE(profile.fixed == FixedCosts());
  REQUIRE_FALSE(profile.segments_cross_groups);
  REQUIRE(profile.blocks[0].name == "first");
  const BlockProfile& second = profile.blocks[1];
  REQUIRE(second.name == "block.1");
  REQUIRE_FALSE(second.group);
  REQUIRE(second.count == 1);
  REQUIRE(second.sizes.weight == Bytes{0});
  REQUIRE_FALSE(second.sizes.dropped_workspace);
  REQUIRE(second.saved[0].scope == Scope::other);
  REQUIRE_FALSE(second.saved[0].layout);
  REQUIRE_FALSE(second.saved[0].storage);
}

TEST_CASE("every other key of a profile is checked") {
  REQUIRE(refused("\"bytes\": 12, ", "") == "blocks[0].saved[0].bytes: the key is missing");
  REQUIRE(refused("\"name\": \"qkv\", ", "") == "blocks[0].saved[0].name: the key is missing");
  REQUIRE(refused("\"input_bytes\": 2, ", "") == "blocks[0].input_bytes: the key is missing");
  REQUIRE(refused("\"backward_ns\": 20,", "") == "blocks[0].backward_ns: the key is missing");
  REQUIRE(refused("\"format\": \"stowage.profile\", ", "") == "format: the key is missing");
  REQUIRE(refused("\"version\": 1, ", "") == "version: the key is missing");
  REQUIRE(refused("\"attention\": 6", "\"atention\": 6") ==
          "blocks[0].scope_forward_ns.atention: unknown key");
  REQUIRE(refused("\"resident_bytes\"", "\"resident\"") == "fixed.resident: unknown key");
  REQUIRE(refused("\"bytes\": 12", "\"bytes\": 12, \"device\": 0") ==
          "blocks[0].saved[0].device: unknown key");
  REQUIRE(refused("\"group\": \"single\"", "\"group\": 1") == "blocks[0].group: expected a string, not 1");
  REQUIRE(refused("\"blocks\": [", "\"segments_cross_groups\": 1, \"blocks\": [") ==
          "segments_cross_groups: expected true or false, not 1");
  REQUIRE(refused("\"count\": 4,", "\"count\": 4, \"count\": 4,") ==
          "blocks[0].count: the key is given twice in one object");
}

TEST_CASE("a layout may be known in part") {
  const auto layout = [](const std::string& keys) {
    const std::string text = changed(example, "\"bytes\": 12", "\"bytes\": 12, " + keys);
    const Profile profile = parse_profile(text);
    REQUIRE(parse_profile(to_json(profile)) == profile);
    return profile.blocks[0].saved[0].layout;
  };
  REQUIRE(layout("\"dtype\": \"bfloat16\"") == TensorLayout{"bfloat16", {}, {}, 0});
  REQUIRE(layout("\"shape\": []") == TensorLayout{{}, Extents{}, {}, 0});
  REQUIRE(layout("\"shape\": [2, 0]") == TensorLayout{{}, Extents{2, 0}, {}, 0});
  REQUIRE(layout("\"strides\": [0, 1]") == TensorLayout{{}, {}, Extents{0, 1}, 0});
  REQUIRE(layout("\"storage_offset\": 5") == TensorLayout{{}, {}, {}, 5});
  const auto said = [](const std::string& keys) {
    return refused("\"bytes\": 12", "\"bytes\": 12, " + keys);
  };
  REQUIRE(said("\"shape\": [2, -1]") == "blocks[0].saved[0].shape[1]: expected at least 0, not -1");
  REQUIRE(said("\"shape\": [2], \"strides\": []") ==
          "blocks[0].saved[0].strides: expected as many strides as the shape has dimensions");
  REQUIRE(said("\"dtype\": 16") == "blocks[0].saved[0].dtype: expected a string, not 16");
  REQUIRE(said("\"storage\": 1.5") == "blocks[0].saved[0].storage: expected a string or an integer");
  REQUIRE(said("\"stays\": 1") == "blocks[0].saved[0].stays: expected true or false, not 1");
  REQUIRE(said("\"storage\": -1") == "blocks[0].saved[0].storage: expected at least 0, not -1");
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

TEST_CASE("a storage stays where one of its tensors does") {
  const std::string text = changed(example, "\"bytes\": 12", "\"bytes\": 12, \"stays\": true");
  const Profile profile = parse_profile(text);
  REQUIRE(parse_profile(to_json(profile)) == profile);
  REQUIRE(profile.digest() != parse_profile(example).digest());
  REQUIRE(parse_profile(changed(text, "true", "false")).digest() == parse_profile(example).digest());
  BlockProfile block;
  block.saved = {{"x", {8}, Scope::attention, {}, "s"},
                 {"y", {3}, Scope::ffn, {}, {}},
                 {"codes", {9}, Scope::ffn, {}, "s", true}};
  REQUIRE(storages(block)[0].stays);
  REQUIRE(!storages(block)[1].stays);
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
  REQUIRE(after("\"attention\": 6", "\"attention\": 7") == digest);
  REQUIRE(after("\"name\": \"example\"", "\"name\": \"copy\"") == digest);
  REQUIRE(after("\"name\": \"qkv\"", "\"name\": \"kqv\"") != digest);
  REQUIRE(after("\"scope\": \"ffn\"", "\"scope\": \"other\"") != digest);
  REQUIRE(after("\"resident_bytes\": 100", "\"resident_bytes\": 101") != digest);
  REQUIRE(after("\"input_bytes\": 2", "\"input_bytes\": 3") != digest);
  REQUIRE(after("\"blocks\": [", "\"segments_cross_groups\": true, \"blocks\": [") != digest);
  REQUIRE(after("\"bytes\": 12", "\"bytes\": 13") != digest);
  REQUIRE(after("\"count\": 4", "\"count\": 5") != digest);
  REQUIRE(after("\"group\": \"single\"", "\"group\": \"double\"") != digest);
}

TEST_CASE("the digest knows which tensors share a storage, not what it is called") {
  const auto digest = [](const std::string& first, const std::string& second) {
    const std::string text = changed(example, "\"bytes\": 12", "\"bytes\": 12, \"storage\": " + first);
    return parse_profile(changed(text, "\"bytes\": 8", "\"bytes\": 8, \"storage\": " + second)).digest();
  };
  REQUIRE(digest("1", "1") == digest("\"a\"", "\"a\""));
  REQUIRE(digest("1", "2") == parse_profile(example).digest());  // shared with none
  REQUIRE(digest("1", "1") != digest("1", "2"));
}
