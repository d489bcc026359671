#include "traces/json.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace {

std::string parse_refusal(const std::string& text) {
  return refusal(JsonNode::parse, text);
}

}  // namespace

TEST_CASE("malformed text is refused with its place and what is wrong there") {
  REQUIRE(parse_refusal("{\"a\": 1") == ": line 1, column 7: the JSON ends too early");
  REQUIRE(parse_refusal("") == ": line 1, column 1: the JSON ends too early");
  REQUIRE(parse_refusal("{\n  \"a\": x}") == ": line 2, column 8: not valid JSON: invalid literal");
  REQUIRE(parse_refusal("{}\n {}") ==
          ": line 2, column 2: not valid JSON: unexpected '{'; expected end of input");
  REQUIRE(parse_refusal("[NaN]") == ": line 1, column 2: not valid JSON: invalid literal");
  REQUIRE(parse_refusal("[1,]") ==
          ": line 1, column 4: not valid JSON: unexpected ']'; expected '[', '{', or a literal");
  REQUIRE(parse_refusal("[01]") ==
          ": line 1, column 3: not valid JSON: unexpected number literal; expected ']'");
  REQUIRE(parse_refusal("[\"\xff\"]") ==
          ": line 1, column 3: not valid JSON: invalid string: ill-formed UTF-8 byte");
  REQUIRE(parse_refusal("[\"\n\"]")
              .starts_with(": line 1, column 3: not valid JSON: invalid string: control character U+000A"));
  REQUIRE(parse_refusal("[\"\\ud800\"]").starts_with(": line 1, column 9: not valid JSON: invalid string"));
  REQUIRE(parse_refusal("// why\n{}") == ": line 1, column 1: not valid JSON: invalid literal");
  REQUIRE(parse_refusal("[1, 1e999]") == ": line 1, column 9: a number is too large");
}

TEST_CASE("nothing may hide behind a zero byte") {
  REQUIRE(parse_refusal(std::string("{}\n\0 more", 9)) == ": line 2, column 1: not valid JSON: a zero byte");
}

TEST_CASE("a byte order mark is passed over") {
  REQUIRE(parse_refusal("\xef\xbb\xbf{}") == "accepted");
}

TEST_CASE("a key given twice is refused with its path, at any depth") {
  REQUIRE(parse_refusal("{\"a\": 1, \"a\": 1}") == "a: the key is given twice in one object");
  REQUIRE(parse_refusal("{\"a\": 1, \"\\u0061\": 1}") == "a: the key is given twice in one object");
  REQUIRE(parse_refusal("[{}, {\"b\": {\"a\": 1, \"c\": 3, \"a\": 2}}]") ==
          "[1].b.a: the key is given twice in one object");
  REQUIRE(parse_refusal("{\"x\": 0, \"b\": [1, [{\"a\": {}, \"a\": []}]]}") ==
          "b[1][0].a: the key is given twice in one object");
  REQUIRE(parse_refusal("[{\"a\": 1}, {\"a\": 1}]") == "accepted");
}

TEST_CASE("keys keep the order of the file and are found in any") {
  const JsonNode root = JsonNode::parse("{\"z\": 1, \"a\": 2, \"m\": 3, \"\": 4}");
  REQUIRE(root.keys() == std::vector<std::string>{"z", "a", "m", ""});
  REQUIRE(root.at("m").integer() == 3);
  REQUIRE(root.at("").integer() == 4);
  REQUIRE_FALSE(root.find("b"));
}

TEST_CASE("an error is one line whatever the file holds") {
  const auto said = [](const std::string& text) -> std::string {
    try {
      JsonNode::parse(text).allow({});
    } catch (const InputError& error) {
      return error.in("two\nlines.json").what();
    }
    return "accepted";
  };
  REQUIRE(said("{\"a\\nb\\u001b[31m\": 1}") == "two?lines.json: a?b?[31m: unknown key");
  REQUIRE(said("{\"" + std::string(1000, 'k') + "\": 1}") ==
          "two?lines.json: " + std::string(60, 'k') + "...: unknown key");
  // 59 k and an e with an accent, which is two bytes, do not fit in 60.
  REQUIRE(said("{\"" + std::string(59, 'k') + "\xc3\xa9\": 1}") ==
          "two?lines.json: " + std::string(59, 'k') + "...: unknown key");
}

TEST_CASE("nesting has a limit") {
  REQUIRE(parse_refusal(std::string(64, '[') + std::string(64, ']')) == "accepted");
  REQUIRE(parse_refusal(std::string(65, '[') + std::string(65, ']')) == ": nested deeper than 64 levels");
  REQUIRE(parse_refusal(std::string(100000, '[')) == ": nested deeper than 64 levels");
}

TEST_CASE("integers are integers below 2^63") {
  const auto integer = [](const std::string& text) {
    return refusal([](const std::string& t) { JsonNode::parse("[" + t + "]").items()[0].integer(0, 99); },
                   text);
  };
  REQUIRE(integer("99") == "accepted");
  REQUIRE(integer("-0") == "accepted");
  REQUIRE(integer("9223372036854775807") == "[0]: expected at most 99, not 9223372036854775807");
  REQUIRE(integer("9223372036854775808") == "[0]: expected an integer below 2^63");
  REQUIRE(integer("18446744073709551616") == "[0]: expected an integer below 2^63");
  REQUIRE(integer("-9223372036854775808") == "[0]: expected at least 0, not -9223372036854775808");
  REQUIRE(integer("-9223372036854775809") == "[0]: expected an integer above -2^63");
  REQUIRE(integer("-1") == "[0]: expected at least 0, not -1");
  REQUIRE(integer("1.5") == "[0]: expected an integer, without point or exponent, not 1.5");
  REQUIRE(integer("10.0") == "[0]: expected an integer, without point or exponent, not 10.0");
  REQUIRE(integer("1e3") == "[0]: expected an integer, without point or exponent, not 1e3");
  REQUIRE(integer("\"1\"") == "[0]: expected an integer, not \"1\"");
  REQUIRE(integer("true") == "[0]: expected an integer, not true");
  REQUIRE(integer("null") == "[0]: expected an integer, not null");
  REQUIRE(integer("[1]") == "[0]: expected an integer, not an array");
}

TEST_CASE("other values are what they are said to be") {
  const JsonNode root =
      JsonNode::parse("{\"n\": 10000000000000000000, \"t\": \"x\", \"o\": {}, \"z\": null}");
  const auto said = [&](auto read) { return refusal([&](const std::string&) { read(); }, ""); };
  REQUIRE(root.at("n").number(0, 1e19) == 1e19);
  REQUIRE(root.at("z").is_null());
  REQUIRE(said([&] { root.at("n").number(0, 1); }) ==
          "n: expected a number from 0 to 1, not 10000000000000000000");
  REQUIRE(said([&] { root.at("t").number(0, 1); }) == "t: expected a number, not \"x\"");
  REQUIRE(said([&] { root.at("n").string(); }) == "n: expected a string, not 10000000000000000000");
  REQUIRE(said([&] { root.at("t").boolean(); }) == "t: expected true or false, not \"x\"");
  REQUIRE(said([&] { root.at("o").items(); }) == "o: expected an array, not an object");
  REQUIRE(said([&] { root.at("t").keys(); }) == "t: expected an object, not \"x\"");
  REQUIRE(said([&] { root.at("t").at("y"); }) == "t: expected an object, not \"x\"");
}

TEST_CASE("paths name keys and positions") {
  const JsonNode root = JsonNode::parse("{\"a\": [{\"b\": 1}, {\"c\": 2}]}");
  REQUIRE(root.at("a").items()[1].at("c").path() == "a[1].c");
  REQUIRE(refusal([&](const std::string&) { root.at("a").items()[1].allow({"b"}); }, "") ==
          "a[1].c: unknown key");
  REQUIRE(refusal([&](const std::string&) { root.at("x"); }, "") == "x: the key is missing");
}

TEST_CASE("what is written reads back the same") {
  JsonWriter json;
  json.begin_object()
      .field("text", "a \"b\" \n \xff")
      .field("small", -7)
      .field("flag", true)
      .field("half", 0.1);
  json.key("none").null().key("list").begin_array().value(1).value(2).end_array();
  json.key("rows").begin_array().begin_row().field("x", 1).field("y", 2).end_object().end_array();
  json.field("endless", std::nan("")).key("inner").raw("{\n  \"z\": 3\n}\n").end_object();
  REQUIRE(json.text() ==
          "{\n"
          "  \"text\": \"a \\\"b\\\" \\n \xEF\xBF\xBD\",\n"
          "  \"small\": -7,\n"
          "  \"flag\": true,\n"
          "  \"half\": 0.1,\n"
          "  \"none\": null,\n"
          "  \"list\": [1, 2],\n"
          "  \"rows\": [\n"
          "    {\"x\": 1, \"y\": 2}\n"
          "  ],\n"
          "  \"endless\": null,\n"
          "  \"inner\": {\n"
          "    \"z\": 3\n"
          "  }\n"
          "}\n");
  const JsonNode root = JsonNode::parse(json.text());
  REQUIRE(root.at("half").number(0, 1) == 0.1);
  REQUIRE(root.at("rows").items()[0].at("y").integer() == 2);
}

TEST_CASE("misuse of the writer is a defect") {
  JsonWriter json;
  json.begin_object();
  REQUIRE_THROWS_AS(json.value(1), DefectError);
  REQUIRE_THROWS_AS(json.end_array(), DefectError);
  REQUIRE_THROWS_AS(json.text(), DefectError);
}
