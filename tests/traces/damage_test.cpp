// Damaged files: whatever the damage, a file is read or refused in one line; what is read survives its file.
#include <algorithm>
#include <random>
#include <string>

#include "tests/catch.h"
#include "traces/error.h"
#include "traces/journal.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "traces/timeline.h"

using namespace stowage;

namespace {

const std::string profile = R"({"format": "stowage.profile", "version": 1, "name": "example",
 "fixed": {"resident_bytes": 100, "output_bytes": 2, "epilogue_ns": 6, "optimizer_ns": 4},
 "blocks": [{"name": "block.0", "group": "single", "count": 4, "forward_ns": 10, "backward_ns": 20,
   "input_bytes": 2, "weight_bytes": 5, "gradient_bytes": 1, "dropped_workspace_bytes": 2,
   "saved": [{"name": "qkv", "bytes": 12, "scope": "attention", "dtype": "float32", "shape": [1, 3],
              "strides": [3, 1], "storage_offset": 0, "storage": 1},
             {"name": "hidden", "bytes": 8, "scope": "ffn", "storage": "a"}],
   "scope_forward_ns": {"attention": 6, "ffn": 4}, "scope_input_bytes": {"ffn": 1},
   "scope_dropped_workspace_bytes": {"ffn": 2}, "scope_workspace_bytes": {"ffn": 3}}], "segments_cross_groups": true,
 "phases": {"checkpoint_bytes": 90, "validation_bytes": 5}})";

const std::string machine = R"({"format": "stowage.machine", "version": 1, "name": "card",
 "device": {"memory_bytes": 257, "reserved_bytes": 0},
 "host": {"memory_bytes": 687, "pinned_limit_bytes": 343, "pinned_rounding": "pow2"},
 "links": {"h2d": {"bytes_per_second": 26, "latency_ns": 10}, "d2h": {"bytes_per_second": 26, "latency_ns": 10},
           "pageable_bytes_per_second": 9, "duplex": 0.9, "compute_slowdown": 0.1}, "arena": "caching",
 "arena_options": {"expandable_segments": true, "record_stream_lag_ns": 5}})";

const std::string timeline =
    R"({"format": "stowage.timeline", "version": 1, "source": "measured", "name": "x",
 "step_ns": 1500, "compute_ns": 1300,
 "spans": [{"lane": "compute", "step": "forward", "block": 0, "begin_ns": 0, "end_ns": 300, "bytes": 0},
           {"lane": "h2d", "step": "restore_saved", "block": 0, "storage": 1, "begin_ns": 300, "end_ns": 500, "bytes": 64}],
 "memory": {"device": [{"at_ns": 0, "bytes": 10}, {"at_ns": 300, "bytes": 74}], "host": []},
 "stalls": [{"cause": "restore", "block": 0, "begin_ns": 300, "end_ns": 500}], "counters": {"copies": 1}})";

const std::string journal =
    R"({"format": "stowage.journal", "version": 1, "name": "x", "streams": ["compute", "d2h"],
 "entries": [{"at_ns": 0, "allocate": 0, "bytes": 10}, {"at_ns": 0, "allocate": 1, "bytes": 74, "stream": 1},
             {"at_ns": 5, "free": 0, "stream": 1}, {"at_ns": 9, "allocate": 0, "bytes": 3}]})";

// Overwrites, removes, repeats or cuts off; any byte may appear. Half of the new bytes are those of JSON.
std::string damaged(std::string text, std::mt19937& random) {
  static const std::string likely = "{}[]\",:0123456789-.eE\\ntrufalse ";
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (std::size_t left = 1 + below(3); left > 0 && !text.empty(); --left) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(1 + below(20), text.size() - at);
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] = likely[below(likely.size())];
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      default:
        if (below(4) == 0) text.resize(at);
    }
  }
  return text;
}

struct Tally {
  int accepted = 0, refused = 0;
};

template <class Parse>
Tally damage(Parse parse, const std::string& whole) {
  std::mt19937 random(7);
  Tally tally;
  for (int round = 0; round < 10'000; ++round) {
    try {
      const auto value = parse(damaged(whole, random));
      if (!(parse(to_json(value)) == value)) FAIL("does not survive its file: " << to_json(value));
      ++tally.accepted;
    } catch (const InputError& error) {
      const std::string said = error.what();
      if (said.empty() || said.find('\n') != std::string::npos || said.size() > 500) FAIL("said: " << said);
      ++tally.refused;
    }
  }
  return tally;
}

template <class Parse>
void cut_anywhere(Parse parse, const std::string& whole) {
  for (std::size_t size = 0; size < whole.size(); ++size)
    REQUIRE_THROWS_AS(parse(whole.substr(0, size)), InputError);
}

}  // namespace

TEST_CASE("damaged files are read or refused") {
  for (const Tally tally : {damage(parse_profile, profile), damage(parse_machine, machine),
                            damage(parse_timeline, timeline), damage(parse_journal, journal)}) {
    REQUIRE(tally.accepted > 500);  // some damage only changes a figure or a name
    REQUIRE(tally.refused > 5000);
  }
}

TEST_CASE("files that were cut off are refused wherever the cut is") {
  cut_anywhere(parse_profile, profile);
  cut_anywhere(parse_machine, machine);
  cut_anywhere(parse_timeline, timeline);
  cut_anywhere(parse_journal, journal);
}
