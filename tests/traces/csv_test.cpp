#include "traces/export/csv.h"

#include "tests/catch.h"

using namespace stowage;

TEST_CASE("a timeline becomes a table: spans, stalls, and memory until it changes") {
  Timeline timeline;
  timeline.source = "simulated";
  timeline.name = "small, \"quoted\"";
  timeline.step = {50};
  timeline.spans = {{Lane::compute, StepKind::forward, 0U, {}, {0}, {30}, {}},
                    {Lane::d2h, StepKind::store_saved, 0U, 1U, {30}, {45}, {64}}};
  timeline.memory.device = {{{0}, {10}}, {{30}, {74}}};
  timeline.memory.host = {{{60}, {1}}};
  timeline.stalls = {{StallCause::drain, {}, {30}, {50}}};
  const std::string front = "0,simulated,\"small, \"\"quoted\"\"\",";
  REQUIRE(to_csv({timeline}) ==
          "timeline,source,name,kind,lane,what,block,storage,begin_ns,end_ns,bytes\n" + front +
              "span,compute,forward,0,,0,30,0\n" + front + "span,d2h,store_saved,0,1,30,45,64\n" + front +
              "stall,compute,drain,,,30,50,\n" + front + "memory,device,in_use,,,0,30,10\n" + front +
              "memory,device,in_use,,,30,50,74\n" + front + "memory,host,in_use,,,60,60,1\n");
}

TEST_CASE("no timelines make a table without rows") {
  const std::string table = to_csv({});
  REQUIRE(table.find('\n') == table.size() - 1);
}
