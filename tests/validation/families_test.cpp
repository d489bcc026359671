// Shapes, their sums, and the catalogue's file.
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/traces/refusal.h"
#include "tests/validation/small_family.h"

using namespace stowage;
using namespace stowage::tests;

namespace families_test {
namespace {

const std::string one = R"({"format": "stowage.families", "version": 1, "source": "here", "families": [
  {"family": "A", "batch": 3, "segmenting": "every-nth", "groups": [
    {"name": "g", "blocks": 2, "width": 4, "image_tokens": 5, "text_tokens": 1, "attentions": 1,
     "image_attentions": 1, "ffn_width": 16, "ffn_gated": true, "checkpointing": "always"}]},
  {"family": "B", "segmenting": null}]})";

}  // namespace

// Six tokens of width 4, batch 3, two bytes a number: 144 bytes enter. Attention keeps 5 * 4 for each of six
// tokens and again for each of five, the gated hidden layer 3 * 16 for each of six: 120 + 100 + 288 numbers.
TEST_CASE("what enters a block and what it keeps, by its shape") {
  const std::vector<Family> families = parse_families(one);
  const Family& family = families.front();
  const GroupShape& shape = family.groups.front().shape;
  REQUIRE(input_of(family, shape) == Bytes{144});
  REQUIRE(kept_by(family, shape) == Bytes{508 * 6});
  // Attention: 6 * 64 + 2 * 36 * 4 and 5 * 64 + 2 * 25 * 4; the rest: 6 * 3 * 4 * 16.
  REQUIRE(work_of(family, shape) == 3 * (672 + 520 + 1152));
  REQUIRE(family.groups.front().always_checkpointed);
  REQUIRE(!families[1].segmenting);
}

TEST_CASE("blocks in the order in which they run") {
  Family family = small_family(Segmenting::every_nth);
  family.groups = {small_group("a", 2), small_group("b", 2)};
  const auto names = [&] {
    std::string text;
    for (const BlockGroup* group : chain_of(family)) text += group->name;
    return text;
  };
  REQUIRE(names() == "aabb");
  family.interleaved = true;
  REQUIRE(names() == "abab");
}

TEST_CASE("a note in parentheses does not change the family") {
  const std::vector<Family> families = parse_families(one);
  REQUIRE(find_family(families, "A") == &families[0]);
  REQUIRE(find_family(families, "A (no-compile)") == &families[0]);
  REQUIRE(find_family(families, "A no-compile") == nullptr);
  REQUIRE(find_family(families, "C") == nullptr);
}

TEST_CASE("wrong catalogues are refused with their path") {
  const auto refused = [](const std::string& from, const std::string& to) {
    return refusal(parse_families, changed(one, from, to));
  };
  REQUIRE(refused("\"width\": 4", "\"wide\": 4").starts_with("families[0].groups[0].wide: "));
  REQUIRE(refused("\"width\": 4", "\"width\": 0").starts_with("families[0].groups[0].width: "));
  REQUIRE(refused("\"blocks\": 2", "\"blocks\": 2000").starts_with("families[0].groups[0].blocks: "));
  REQUIRE(refused("every-nth", "some").starts_with("families[0].segmenting: "));
  REQUIRE(refused("\"always\"", "\"never\"").starts_with("families[0].groups[0].checkpointing: "));
  REQUIRE(refused("\"image_tokens\": 5, \"text_tokens\": 1", "\"text_tokens\": 0")
              .starts_with("families[0].groups[0]: "));
  REQUIRE(refused("\"B\"", "\"A\"").starts_with("families[1].family: "));
  REQUIRE(refused("\"version\": 1", "\"version\": 2").starts_with("version: "));
}

TEST_CASE("the shipped catalogue") {
  const std::vector<Family> families = read_families(source_folder() + "/catalogue/families.json");
  REQUIRE(find_family(families, "PixArt") != nullptr);
  REQUIRE(chain_of(*find_family(families, "PixArt")).size() == 42);
  // Residual stream of the first 30 blocks: 1024 image and 512 text tokens, width 3840, two bytes.
  REQUIRE(input_of(*find_family(families, "Z-Image Turbo"),
                   find_family(families, "Z-Image Turbo")->groups.back().shape) == Bytes{1536 * 3840 * 2});
}

}  // namespace families_test
