#include <string>
#include <vector>

#include "tests/catch.h"
#include "traces/import/event_reader.h"

using namespace stowage;

namespace {

struct Read {
  std::vector<TraceEvent> events;
  std::vector<std::string> names;
  Repairs repairs;
  TraceHeader header;

  std::int64_t count(Repair repair) const { return repairs[repair].count; }
};

// Texts of the events point nowhere once this returns; numbers are asked for by `each`.
template <class Each>
Read read(const std::string& text, Each each, std::size_t window_size = 1 << 20) {
  const auto source = open_bytes(std::span(text));
  ByteWindow window(*source, window_size);
  Read out;
  EventReader reader(window, out.repairs);
  TraceEvent event;
  while (reader.next(event)) {
    out.names.emplace_back(event.text(EventField::name));
    if (event.repair) out.repairs.add(*event.repair, event.offset);
    each(event);
  }
  out.header = reader.header();
  return out;
}

Read read(const std::string& text, std::size_t window_size = 1 << 20) {
  return read(
      text, [](const TraceEvent&) {}, window_size);
}

using Names = std::vector<std::string>;

std::string document(const std::string& events) {
  return R"({"traceEvents": [)" + events + "]}";
}

std::string named(const std::string& name) {
  return R"({"ph": "X", "name": ")" + name + R"(", "ts": 1, "dur": 2})";
}

}  // namespace

TEST_CASE("events are found whether the document is an object or an array") {
  REQUIRE(read(document(named("a") + "," + named("b"))).names == Names{"a", "b"});
  REQUIRE(read("[" + named("a") + ",\n" + named("b") + "]\n").names == Names{"a", "b"});
  REQUIRE(read(document("")).names.empty());
  REQUIRE(read(document("")).repairs.none());
}

TEST_CASE("members stand on either side of the events") {
  const Read got =
      read(R"({"metadata": {"traceEvents": [1, {"a": "]}"}]}, "baseTimeNanoseconds": 1727743122000000000,
    "distributedInfo": "{'rank': 0}", "roctracer_version": 4.1, "traceEvents": [)" +
           named("a") + R"(], "deviceProperties": [{"id": 2, "name": "NVIDIA H100",
    "totalGlobalMem": 102085492736, "regs": [1]}, {"id": 7, "name": ""}], "displayTimeUnit": "ms"})");
  REQUIRE(got.names == Names{"a"});
  REQUIRE(got.repairs.none());
  REQUIRE(got.header.base == Nanos{1727743122000000000});
  REQUIRE(got.header.devices.size() == 2);
  REQUIRE(got.header.devices[0].name == "NVIDIA H100");
  REQUIRE(got.header.devices[0].memory == Bytes{102085492736});
  REQUIRE(got.header.devices[1].id == 7);
}

TEST_CASE("numbers keep all their digits") {
  const std::string text = document(
      R"({"ph": "X", "ts": 6027413646370.922, "dur": 0.0006, "pid": "Spans", "tid": "stream 7 ",
          "args": {"correlation": 10159970886766084423, "bytes": "128", "Addr": 18446744073709551615}},
         {"ph": "X", "ts": 1669783687464181, "dur": 1e3, "tid": 7, "args": {"bytes": 128.0, "correlation": -1}},
         {"ph": "X", "ts": 1669783687464181.2345, "dur": -1, "tid": "7"},
         {"ph": "X", "ts": 99999999999999999999, "dur": true, "tid": 8})");
  std::vector<std::optional<Nanos>> begins, durations;
  std::vector<std::int64_t> threads;
  std::vector<std::optional<std::uint64_t>> correlations;
  const Read got = read(text, [&](const TraceEvent& event) {
    begins.push_back(event.micros(EventField::begin));
    durations.push_back(event.micros(EventField::duration));
    threads.push_back(event.track(EventField::thread));
    correlations.push_back(event.identifier(EventField::correlation));
    if (event.has(EventField::bytes)) REQUIRE(event.integer(EventField::bytes) == 128);
    if (event.has(EventField::address))
      REQUIRE(event.identifier(EventField::address) == 18446744073709551615ULL);
  });
  REQUIRE(begins[0] == Nanos{6027413646370922});
  REQUIRE(begins[1] == Nanos{1669783687464181000});
  REQUIRE(begins[2] == Nanos{1669783687464181235});  // .2345 us, to the nearest: 235 ns
  REQUIRE(!begins[3]);
  REQUIRE(durations[0] == Nanos{1});  // 0.6 ns
  REQUIRE(durations[1] == Nanos{1000000});
  REQUIRE(durations[2] == Nanos{-1000});
  REQUIRE(!durations[3]);
  REQUIRE(threads == std::vector<std::int64_t>{7, 7, 7, 8});
  REQUIRE(correlations[0] == 10159970886766084423ULL);
  REQUIRE(correlations[1] == 18446744073709551615ULL);
  REQUIRE(got.repairs.none());
}

TEST_CASE("text that names no number is a track of its own") {
  std::vector<std::int64_t> tracks;
  read(document(R"({"ph": "X", "pid": "Spans"}, {"ph": "X", "pid": "Traces"}, {"ph": "X", "pid": "Spans"},
                   {"ph": "X", "pid": ""}, {"ph": "X", "pid": -1})"),
       [&](const TraceEvent& event) { tracks.push_back(event.track(EventField::process)); });
  REQUIRE(tracks[0] == tracks[2]);
  REQUIRE(tracks[0] != tracks[1]);
  REQUIRE(tracks[0] < -(std::int64_t{1} << 61));
  REQUIRE(tracks[3] < -(std::int64_t{1} << 61));
  REQUIRE(tracks[4] == -1);
}

TEST_CASE("escapes are decoded, and what is none is kept and counted") {
  const Read clean = read(document(named(R"(caf\u00e9 \"q\" \ud83d\ude00 \t)")));
  REQUIRE(clean.names == Names{"caf\xc3\xa9 \"q\" \xf0\x9f\x98\x80 \t"});
  REQUIRE(clean.repairs.none());
  const Read windows = read(document(named("ok") + "," + named(R"(C:\Users\Ada)") + "," + named("ok")));
  REQUIRE(windows.names == Names{"ok", R"(C:\Users\Ada)", "ok"});
  REQUIRE(windows.count(Repair::bad_escape) == 1);
  // {"traceEvents": [  is 17 bytes; the first event, its comma included, 46
  REQUIRE(windows.repairs[Repair::bad_escape].first_offset == 17 + named("ok").size() + 1);
}

TEST_CASE("a path that ends in a backslash does not swallow the rest") {
  const Read got =
      read(document(R"({"ph": "X", "name": "C:\work\", "ts": 1, "args": {"x": "D:\"}},)" + named("b")));
  REQUIRE(got.names == Names{R"(C:\work\)", "b"});
  REQUIRE(got.count(Repair::bad_escape) == 1);
}

TEST_CASE("raw quotes inside names are kept") {
  const Names hard = {R"(f {"device": "cpu"} g)", R"({"device": "cpu"})", R"(a "b" c)",
                      R"(say "hi", then go)", R"(")"};
  for (const std::string& name : hard) {
    const Read got = read(document(named("before") + "," + named(name) + "," + named("after")));
    REQUIRE(got.names == Names{"before", name, "after"});
    REQUIRE(got.count(Repair::raw_quote) == 1);
    REQUIRE(got.count(Repair::dropped_event) == 0);
  }
}

TEST_CASE("control characters and bytes that are no UTF-8 pass") {
  const Read got = read(document(named("a\x01 b\n c") + "," + named("\xff\xfe")));
  REQUIRE(got.names == Names{"a\x01 b\n c", "\xff\xfe"});
  REQUIRE(got.count(Repair::control_character) == 1);
  const std::string nul = document(named(std::string("a\0b", 3)) + "," + named("c"));
  REQUIRE(read(nul).names == Names{std::string("a\0b", 3), "c"});
}

TEST_CASE("what is no number counts as absent") {
  const std::string text = document(
      R"json({"ph": "X", "name": "a", "ts": 1, "args": {"memory bandwidth (GB/s)": inf, "bytes": 8}},
         {"ph": "X", "name": "b", "ts": NaN, "args": {"bytes": -nan(ind), "stream": N/A}},
         {"ph": "X", "name": "c", "ts": , "dur": Infinity, "args": {}})json");
  const Read got = read(text, [](const TraceEvent& event) {
    REQUIRE(!event.has(EventField::bandwidth));
    REQUIRE(event.has(EventField::bytes) == (event.text(EventField::name) == "a"));
    REQUIRE(event.has(EventField::begin) == (event.text(EventField::name) == "a"));
  });
  REQUIRE(got.names == Names{"a", "b", "c"});
  REQUIRE(got.count(Repair::not_a_number) == 3);
}

TEST_CASE("commas too many are passed over") {
  const Read got =
      read(R"({"a": 1,, "traceEvents": [,)" + named("a") + ",," + R"({"ph": "X",, "name": "b",})" + ",]}");
  REQUIRE(got.names == Names{"a", "b"});
  REQUIRE(got.count(Repair::stray_comma) == 1);
}

TEST_CASE("a file cut anywhere keeps every event that is complete") {
  const std::string first = named("a") + ",", whole = document(first + named("b \\u00e9") + "," + named("c"));
  const std::size_t head = whole.find('[') + 1;
  std::size_t seen = 0;
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    const Read got = read(whole.substr(0, kept));
    REQUIRE(got.names.size() >= seen);
    seen = got.names.size();
    if (kept >= head + first.size()) REQUIRE(got.names.at(0) == "a");
    REQUIRE(got.count(Repair::truncated) == 1);
    REQUIRE(got.count(Repair::dropped_event) == 0);
  }
  REQUIRE(seen == 3);
}

TEST_CASE("an event that makes no sense is dropped, and the next one is found") {
  const Names broken = {
      R"({"ph": "X")", "7", "x", R"({"ph": "X", {]]]})", R"({"ph" "X"})", R"({"ph": "X", "name": "x)"};
  for (const std::string& event : broken) {
    const Read got = read(document(named("a") + "," + event + "," + named("b")) + " ");
    REQUIRE(got.names == Names{"a", "b"});
    REQUIRE(got.count(Repair::dropped_event) == 1);
    REQUIRE(got.count(Repair::truncated) == 0);
  }
  const Read last = read(document(named("a") + R"(,{"ph": "X", x)"));
  REQUIRE(last.names == Names{"a"});
  REQUIRE(last.count(Repair::dropped_event) + last.count(Repair::truncated) == 1);
}

TEST_CASE("damage before the events does not hide them") {
  const Read got =
      read(R"({"schemaVersion": 1, "INFO": ["a "quoted {log", "b"], "traceEvents": [)" + named("a") + "]}");
  REQUIRE(got.names == Names{"a"});
  REQUIRE(got.count(Repair::raw_quote) == 1);
  const Read worse = read(R"({"schemaVersion": {1: 2}, [, "traceEvents": [)" + named("a") + "]}");
  REQUIRE(worse.names == Names{"a"});
  REQUIRE(worse.count(Repair::dropped_event) == 1);
}

TEST_CASE("bytes after the end are reported") {
  REQUIRE(read(document(named("a")) + "  \n").repairs.none());
  REQUIRE(read(document(named("a")) + "{}").count(Repair::trailing_bytes) == 1);
}

TEST_CASE("the window's size changes nothing") {
  std::string events;
  for (int i = 0; i < 200; ++i) {
    if (i > 0) events += ", \n";
    events += named("event " + std::to_string(i) + std::string(static_cast<std::size_t>(i) * 3, 'x'));
  }
  const Read whole = read(document(events));
  REQUIRE(whole.names.size() == 200);
  for (const std::size_t size : {16, 17, 100, 1000}) {
    const Read got = read(document(events), size);
    REQUIRE(got.names == whole.names);
    REQUIRE(got.repairs.none());
  }
}
