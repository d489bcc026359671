#include "traces/journal.h"

#include <string>

#include "tests/catch.h"
#include "tests/traces/refusal.h"

using namespace stowage;

namespace journal_test {

const std::string example = R"({"format": "stowage.journal", "version": 1, "name": "x",
 "streams": ["compute", "d2h"],
 "entries": [{"at_ns": 0, "allocate": 0, "bytes": 10},
             {"at_ns": 4, "allocate": 1, "bytes": 74, "stream": 1},
             {"at_ns": 5, "free": 0, "stream": 1},
             {"at_ns": 5, "allocate": 0, "bytes": 3}]})";

std::string refused(const std::string& from, const std::string& to) {
  return refusal(parse_journal, changed(example, from, to));
}

}  // namespace journal_test

TEST_CASE("journals survive their file") {
  Journal journal;
  journal.name = "x";
  journal.streams = {"compute", "d2h"};
  journal.entries = {
      {{0}, 0, true, {10}, 0}, {{4}, 1, true, {74}, 1}, {{5}, 0, false, {}, 1}, {{5}, 0, true, {3}, 0}};
  REQUIRE(parse_journal(journal_test::example) == journal);
  REQUIRE(parse_journal(to_json(journal)) == journal);
}

TEST_CASE("wrong journals are refused with the path of the key") {
  using journal_test::refused;
  REQUIRE(refused("\"at_ns\": 4", "\"at_ns\": 6") == "entries[2].at_ns: expected ascending times");
  REQUIRE(refused("\"allocate\": 1", "\"allocate\": 0") ==
          "entries[1].allocate: expected a buffer that is not alive");
  REQUIRE(refused("\"allocate\": 1", "\"allocate\": 4") == "entries[1].allocate: expected at most 3, not 4");
  REQUIRE(refused("\"free\": 0", "\"free\": 2") == "entries[2].free: expected a buffer that is alive");
  REQUIRE(refused("\"free\": 0", "\"free\": 0, \"bytes\": 1") ==
          "entries[2].bytes: expected no size where a buffer is freed");
  REQUIRE(refused("\"free\": 0", "\"free\": 0, \"allocate\": 2") ==
          "entries[2].free: expected either \"allocate\" or \"free\"");
  REQUIRE(refused("\"allocate\": 1, ", "") == "entries[1].allocate: the key is missing");
  REQUIRE(refused(", \"bytes\": 74", "") == "entries[1].bytes: the key is missing");
  REQUIRE(refused("\"bytes\": 74", "\"bytes\": -1") == "entries[1].bytes: expected at least 0, not -1");
  REQUIRE(refused("\"stream\": 1", "\"stream\": 2") == "entries[1].stream: expected at most 1, not 2");
  REQUIRE(refused("[\"compute\", \"d2h\"]", "[]") == "streams: expected at least one stream");
  REQUIRE(refused("\"name\"", "\"title\"") == "title: unknown key");
  REQUIRE(refused("\"version\": 1", "\"version\": 2") == "version: expected version 1, not 2");
}
