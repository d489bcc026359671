// What a terminal gets: tables that fit, progress, a curve in characters.
#include <string>

#include "cli/output.h"
#include "cli/sparkline.h"
#include "cli/table.h"
#include "tests/catch.h"

using namespace stowage;

TEST_CASE("the last column of words goes on below itself") {
  Table table(1);
  table.row({"ok", "one two three four five six seven"});
  // "  ok" and three spaces are 7 characters; 27 leave 20
  REQUIRE(table.text(27) == "  ok   one two three four\n       five six seven\n");
  REQUIRE(table.text(std::nullopt) == "  ok   one two three four five six seven\n");
  // of too narrow a terminal 20 are used all the same
  REQUIRE(table.text(5) == table.text(27));
  Table long_word(1);
  long_word.row({"", "averyverylongwordthatdoesnotfit and more"});
  REQUIRE(long_word.text(25) == "     averyverylongwordthatdoesnotfit\n     and more\n");
}

TEST_CASE("progress tells rate and rest once it knows them") {
  const std::string half(12, '#'), rest(12, '.');
  REQUIRE(progress_text("training", 4, 8, 2, "steps") ==
          "training  [" + half + rest + "] 50 %, 2 steps/s, 2 s left");
  REQUIRE(progress_text("training", 4, 8, 0.1, "steps") == "training  [" + half + rest + "] 50 %");
  REQUIRE(progress_text("tuning", 8, 8, 2, "") == "tuning  [" + half + half + "] 100 %");
  REQUIRE(progress_text("tuning", 0, 0, 2, "") == "tuning  [" + half + half + "] 100 %");
}

TEST_CASE("a curve in characters has its highest level in each part") {
  // 0..10: 1 B, 10..20: 8 B, then 4 B
  const std::vector<MemorySample> curve{{{0}, {1}}, {{10}, {8}}, {{20}, {4}}};
  REQUIRE(sparkline(curve, {40}, 4) == "▂█▅▅");
  REQUIRE(sparkline(curve, {40}, 3) == "██▅");  // 0..13, 13..26, 26..40
  REQUIRE(sparkline(curve, {40}, 1) == "█");
  REQUIRE(sparkline({}, {40}, 4) == "");
  REQUIRE(sparkline(curve, {0}, 4) == "");
}
