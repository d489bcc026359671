// Strict CSV: what is read, and what is refused at which place.
#include "traces/csv.h"

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace csv_test {
namespace {

std::string refusal_of(const std::string& text) {
  return refusal([](const std::string& whole) { parse_csv(whole, {"name", "size"}); }, text);
}

}  // namespace

TEST_CASE("cells by column, quotes and line ends") {
  const auto rows =
      parse_csv("\xEF\xBB\xBFsize,name\r\n1.50,plain\n\n,\"a, \"\"b\"\"\nc\"\n7,last", {"name", "size"});
  REQUIRE(rows.size() == 3);
  REQUIRE(rows[0].text("name") == "plain");
  REQUIRE(rows[0].number("size", 0, 10) == 1.5);
  REQUIRE(rows[0].resolution("size") == 0.01);
  REQUIRE(rows[1].line() == 4);
  REQUIRE(rows[1].text("name") == "a, \"b\"\nc");
  REQUIRE(rows[1].number("size", 0, 10) == std::nullopt);
  REQUIRE(rows[2].line() == 6);  // the cell before it holds a line end
  REQUIRE(rows[2].integer("size", 0, 10) == 7);
  REQUIRE(rows[2].resolution("size") == 1.0);
}

TEST_CASE("malformed CSV is refused with its line") {
  REQUIRE(refusal_of("") == "line 1: expected a column \"name\"");
  REQUIRE(refusal_of("name,length\n") == "line 1: expected a column \"size\"");
  REQUIRE(refusal_of("name,size,name\n") == "line 1: column \"name\" twice");
  REQUIRE(refusal_of("name,size\na,1\nb\n") == "line 3: expected 2 cells, got 1");
  REQUIRE(refusal_of("name,size\na,1,2\n") == "line 2: expected 2 cells, got 3");
  REQUIRE(refusal_of("name,size\n\"a,1\n") == "line 2: a quote that does not end");
  REQUIRE(refusal_of("name,size\n\"a\"b,1\n") == "line 2: expected a comma after a closing quote");
}

TEST_CASE("wrong numbers are refused with line and column") {
  const auto number = [](const std::string& cell) {
    return refusal([](const std::string& text) { parse_csv(text, {}).front().number("size", 0, 10); },
                   "name,size\na," + cell + "\n");
  };
  REQUIRE(number("9.5") == "accepted");
  REQUIRE(number("") == "accepted");
  REQUIRE(number("fast") == "line 2, column size: expected a number, got \"fast\"");
  REQUIRE(number("1.5s") == "line 2, column size: expected a number, got \"1.5s\"");
  REQUIRE(number("nan") == "line 2, column size: expected a number from 0 to 10, got \"nan\"");
  REQUIRE(number("-1") == "line 2, column size: expected a number from 0 to 10, got \"-1\"");
  REQUIRE(number("1e999") == "line 2, column size: expected a number, got \"1e999\"");
  const auto integer = [](const std::string& cell) {
    return refusal([](const std::string& text) { parse_csv(text, {}).front().integer("size", 1, 10); },
                   "size\n" + cell + "\n");
  };
  REQUIRE(integer("10") == "accepted");
  REQUIRE(integer("11") == "line 2, column size: expected a whole number from 1 to 10, got \"11\"");
  REQUIRE(integer("2.5") == "line 2, column size: expected a whole number from 1 to 10, got \"2.5\"");
}

}  // namespace csv_test
