// The inputs that fuzzing starts from show a parser every key only as long as they are read.
#include <filesystem>
#include <string>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/fuzz/two_blocks.h"
#include "tests/paths.h"
#include "traces/file.h"
#include "traces/journal.h"
#include "traces/json.h"
#include "traces/machine.h"
#include "traces/timeline.h"

using namespace stowage;

namespace {

template <class Parse>
int read_all(const std::string& parser, Parse parse) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(tests::source_folder() + "/tests/fuzz/corpus/" + parser)) {
    INFO(entry.path().string());
    REQUIRE_NOTHROW(parse(read_file(entry.path().string())));
    ++files;
  }
  return files;
}

}  // namespace

TEST_CASE("the inputs that fuzzing starts from are read") {
  REQUIRE(read_all("json", JsonNode::parse) > 0);
  REQUIRE(read_all("profile", parse_profile) > 0);
  REQUIRE(read_all("machine", parse_machine) > 0);
  REQUIRE(read_all("timeline", parse_timeline) > 0);
  REQUIRE(read_all("journal", parse_journal) > 0);
  REQUIRE(read_all("plan", [](const std::string& text) { return parse_plan(text, two_blocks()); }) > 0);
}
