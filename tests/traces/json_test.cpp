#include "traces/json.h"

#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace {

std::string parse_refusal(const std::string& text) {
  return refusal(JsonNode::parse, text);
}

}  // namespace

TEST_CASE("malformed text is refused with its place") {
  REQUIRE(parse_refusal("{\"a\": 1") == ": line 1, column 7: the JSON ends too early");
  REQUIRE(parse_refusal("{\n  \"a\": x}").starts_with(": line 2, column "));
  REQUIRE(parse_refusal("").ends_with("the JSON ends too early"));
  REQUIRE(parse_refusal("{} {}").ends_with("not valid JSON"));
  REQUIRE(parse_refusal("[NaN]").ends_with("not valid JSON"));
  REQUIRE(parse_refusal("[\"\xff\"]").ends_with("not valid JSON"));
  REQUIRE(parse_refusal("[1e999]") == ": a number is too large");
}

TEST_CASE("a key given twice is refused, at any depth") {
  REQUIRE(parse_refusal("{\"a\": 1, \"a\": 1}") == "a: the key is given twice in one object");
  REQUIRE(parse_refusal("[{\"b\": {\"a\": 1, \"a\": 2}}]") == "a: the key is given twice in one object");
  REQUIRE(parse_refusal("[{\"a\": 1}, {\"a\": 1}]") == "accepted");
}

TEST_CASE("nesting has a limit") {
  REQUIRE(parse_refusal(std::string(64, '[') + std::string(64, ']')) == "accepted");
  REQUIRE(parse_refusal(std::string(65, '[') + std::string(65, ']')) == ": nested deeper than 64 levels");
  REQUIRE(parse_refusal(std::string(100000, '[')) == ": nested deeper than 64 levels");
}

TEST_CASE("integers are integers below 2^63") {
  const auto integer = [](const std::string& text) {
    return refusal([](const std::string& t) { JsonNode::parse(t).items()[0].integer(0); }, text);
  };
  REQUIRE(integer("[9223372036854775807]") == "accepted");
  REQUIRE(integer("[9223372036854775808]") == "[0]: expected an integer below 2^63");
  REQUIRE(integer("[99999999999999999999999]") == "[0]: expected an integer below 2^63");
  REQUIRE(integer("[-1]") == "[0]: expected at least 0, not -1");
  REQUIRE(integer("[1.5]") == "[0]: expected an integer, not a fractional number");
  REQUIRE(integer("[\"1\"]") == "[0]: expected an integer, not a string");
  REQUIRE(integer("[true]") == "[0]: expected an integer, not a boolean");
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
