// Members of a JSON text, changed in place.
#include "traces/json_text.h"

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

namespace {

template <class Change>
std::string edited(const char* text, Change change) {
  JsonObjectText object(text);
  change(object);
  return object.text();
}

}  // namespace

TEST_CASE("a member's value is replaced, and nothing else") {
  const auto set = [](JsonObjectText& object) { object.set("b", "[1, 2]"); };
  REQUIRE(edited(R"({ "a":1 ,"b" : {"b": "}"}, "c": 3})", set) == R"({ "a":1 ,"b" : [1, 2], "c": 3})");
  REQUIRE(edited(R"({"\u0062": 1e5})", set) == R"({"\u0062": [1, 2]})");
  REQUIRE(edited("{\"b\": 12}\n", set) == "{\"b\": [1, 2]}\n");
}

TEST_CASE("a new member is written as its neighbours are") {
  const auto set = [](JsonObjectText& object) { object.set("z", "true"); };
  REQUIRE(edited("{\n    \"a\": 1,\n    \"b\": \"x\\\"]\"\n}\n", set) ==
          "{\n    \"a\": 1,\n    \"b\": \"x\\\"]\",\n    \"z\": true\n}\n");
  REQUIRE(edited(R"({"a": 1})", set) == R"({"a": 1,"z": true})");
  REQUIRE(edited("{}", set) == "{\n  \"z\": true\n}");
}

TEST_CASE("a member is taken out with its comma") {
  const auto erase = [](const char* key) { return [key](JsonObjectText& object) { object.erase(key); }; };
  const char* const text = R"({"a": 1, "b": [2, 3], "c": null})";
  REQUIRE(edited(text, erase("a")) == R"({"b": [2, 3], "c": null})");
  REQUIRE(edited(text, erase("b")) == R"({"a": 1, "c": null})");
  REQUIRE(edited(text, erase("c")) == R"({"a": 1, "b": [2, 3]})");
  REQUIRE(edited(text, erase("d")) == text);
  REQUIRE(edited(R"({"a": 1})", erase("a")) == "{}");
}

TEST_CASE("what is no object is refused") {
  REQUIRE_THROWS_AS(JsonObjectText("[1]"), InputError);
  REQUIRE_THROWS_AS(JsonObjectText("{\"a\": }"), InputError);
}
