#include "tests/fuzz/attempt.h"
#include "traces/export/chrome.h"
#include "traces/json.h"
#include "traces/timeline.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return survives(bytes, size, parse_timeline, [](const Timeline& timeline) {
    JsonNode::parse(to_chrome_trace({timeline, timeline}));
    return to_json(timeline);
  });
}
