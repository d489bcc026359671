// The page of `stowage report`, as text: nothing in a name becomes markup, and no timeline breaks it.
#include <limits>
#include <string>

#include "cli/report_page.h"
#include "tests/catch.h"
#include "tests/report/page_data.h"
#include "tests/traces/example_timeline.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Report report_of(Timeline timeline) {
  Report report;
  report.name = timeline.name;
  report.answer = {"A step of " + timeline.name + "."};
  report.timelines.push_back({"predicted", std::move(timeline), {}});
  return report;
}

}  // namespace

TEST_CASE("names with markup stay text") {
  const std::string hostile = "</script><script>alert(1)</script><!--<img src=x onerror='a'>&";
  Timeline timeline = example_timeline();
  timeline.name = hostile;
  timeline.counters = {{hostile, 1}};
  Report report = report_of(timeline);
  report.texts = {{hostile, hostile}};
  const std::string page = report_page(report), plain = report_page(report_of(example_timeline()));
  for (const char* markup : {"<script", "</script", "<!--", "<img"})
    REQUIRE(occurrences(page, markup) == occurrences(plain, markup));
  const JsonNode data = data_of(page);
  REQUIRE(data.at("name").string() == hostile);
  REQUIRE(data.at("texts").items()[0].at("text").string() == hostile);
}

TEST_CASE("a mark of the template in a name is not filled in") {
  Timeline timeline = example_timeline();
  timeline.name = "@data@ @script@";
  REQUIRE(report_page(report_of(timeline)).find("<h1 id=\"name\">@data@ @script@</h1>") != std::string::npos);
}

TEST_CASE("empty and huge timelines make a page") {
  REQUIRE(data_of(report_page(report_of({"measured", "", {}, {}, {}, {}, {}, {}})))
              .at("timelines")
              .items()
              .size() == 1);
  Timeline huge = example_timeline();
  huge.step = huge.spans.back().end = {std::numeric_limits<std::int64_t>::max()};
  huge.memory.device.push_back({huge.step, {std::numeric_limits<std::int64_t>::max()}});
  REQUIRE(data_of(report_page(report_of(huge))).at("timelines").items()[0].at("step_ns").integer() ==
          std::numeric_limits<std::int64_t>::max());
}
