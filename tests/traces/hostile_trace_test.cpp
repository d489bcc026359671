// Profiler traces that no program made: what could cost time or memory without end must not.
#include <ctime>
#include <functional>
#include <string>

#include "tests/catch.h"
#include "tests/traces/import_made_trace.h"

using namespace stowage;
using stowage::tests::MadeTrace;

namespace {

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// What each of these took before it was bounded was minutes or gigabytes; they take tenths of a second.
ImportReport quickly(const MadeTrace& trace) {
  const double begin = processor_seconds();
  ImportReport report = trace.import();
  REQUIRE(processor_seconds() - begin < 10);
  return report;
}

std::string numbered(const char* name, int number) {
  return name + std::to_string(number);
}

}  // namespace

TEST_CASE("a table of names has room for so many, and says when it is full") {
  NameTable names(NameTable::Limits{3, 100});
  REQUIRE(names.id_of("a") == 0);
  REQUIRE(names.id_of("b") == 1);
  REQUIRE(!names.full());
  REQUIRE(names.id_of("c") == 2);
  REQUIRE(names.full());
  REQUIRE(names.id_of("d") == 2);
  REQUIRE(names.id_of("b") == 1);
  REQUIRE(names.text(2) == "(another name)");
  NameTable short_ones(NameTable::Limits{100, 4});
  REQUIRE(short_ones.id_of("abc") == 0);
  REQUIRE(short_ones.id_of("de") == 1);
  REQUIRE(short_ones.full());
  REQUIRE(short_ones.size() == 2);
}

TEST_CASE("more names than any program has are taken for one, and that is said") {
  MadeTrace trace;
  for (int i = 0; i < 300'000; ++i) trace.op(numbered("op", i), 1, i, 1);
  const ImportReport report = quickly(trace);
  REQUIRE(report.events == 300'000);
  REQUIRE(report.time->totals.all == Nanos{300'000'000});
  REQUIRE(report.notes.size() == 2);  // the other: whole microseconds
  REQUIRE(report.notes.front().find("more different names than any program has") != std::string::npos);
}

TEST_CASE("as many steps as blocks, of each very many, are no blocks") {
  MadeTrace trace;
  for (int i = 0; i < 30'000; ++i) trace.annotation(numbered("ProfilerStep#", i), 1, 100L * i, 90);
  for (int i = 0; i < 30'000; ++i) trace.annotation(numbered("block ", i), 1, 100L * i + 1, 5);
  const ImportReport report = quickly(trace);
  REQUIRE(report.steps.size() == 30'000);
  REQUIRE(report.found.blocks.empty());
}

TEST_CASE("calls nested deeper than any stack cost no walk each") {
  constexpr int depth = 60'000;
  MadeTrace trace;
  for (int i = 0; i < depth; ++i) trace.annotation("range", 1, i, 3L * depth - 2L * i);
  for (int i = 0; i < depth; ++i) trace.op("op", 1, depth + i / 2, 1);
  for (int i = 0; i < depth; ++i) trace.kernel("k", 1, 9L * depth - i, 9L * depth + i, 1);
  REQUIRE(quickly(trace).time->totals.all == Nanos{depth * 1'000});
}

TEST_CASE("a sequence number that is all over the threads tells none from another") {
  constexpr int threads = 65'000;
  MadeTrace trace;
  for (int i = 0; i < threads; ++i) trace.op("op", i, i, 1, R"("Sequence number": 5)");
  for (int i = 0; i < threads; ++i)
    trace.op("autograd::engine::evaluate_function: X", threads, threads + i, 1,
             R"("Sequence number": 5, "Fwd thread id": )" + std::to_string(i));
  REQUIRE(quickly(trace).time->totals.all == Nanos{2 * threads * 1'000});
}

TEST_CASE("threads beyond the number of threads are dropped and counted") {
  MadeTrace trace;
  for (int i = 0; i < 65'600; ++i) trace.op("op", i, i, 1);
  const ImportReport report = quickly(trace.op("op", 3, 70'000, 1));
  REQUIRE(report.repairs[Repair::dropped_event].count == 65'600 - 65'535);
  REQUIRE(report.time->totals.all == Nanos{65'536'000});  // one more on a thread that is known
}

TEST_CASE("marks of steps that lie over one another last until the next begins") {
  MadeTrace trace;
  for (int i = 0; i < 20'000; ++i) trace.annotation(numbered("ProfilerStep#", i), 1, i, 1'000'000);
  for (int i = 0; i < 60'000; ++i) trace.memory(1, 20'000 + i, 512L * i + 512, 512);
  const ImportReport report = quickly(trace);
  REQUIRE(report.steps.size() == 20'000);
  REQUIRE(report.steps[5].end - report.steps[5].begin == Nanos{1'000});
  REQUIRE(report.steps.back().peak == Bytes{60'000 * 512});
}

TEST_CASE("steps are marked on the thread with the most marks") {
  // two ranks in one file; the second's third step was cut off
  const ImportReport report = MadeTrace()
                                  .annotation("ProfilerStep#1", 5, 0, 100)
                                  .annotation("ProfilerStep#1", 6, 7, 100)
                                  .annotation("ProfilerStep#2", 5, 100, 100)
                                  .annotation("ProfilerStep#2", 6, 107, 100)
                                  .annotation("ProfilerStep#3", 5, 200, 100)
                                  .import();
  REQUIRE(report.steps.size() == 3);
  REQUIRE(report.steps[0].end - report.steps[0].begin == Nanos{100'000});
}

TEST_CASE("blocks none of which is like another are not all compared with all") {
  MadeTrace trace;
  for (int i = 0; i < 20'000; ++i) {
    trace.annotation(numbered("block ", i), 1, 10L * i, 5);
    trace.memory(1, 10L * i + 1, 512L * i + 512, 4'194'304L * (i + 1));
  }
  const ImportReport report = quickly(trace);
  REQUIRE(report.found.blocks.size() == 20'000);
  REQUIRE(report.found.blocks[7].bytes.saved == Bytes{4'194'304L * 8});
}
