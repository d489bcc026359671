#include "tests/fuzz/attempt.h"
#include "traces/journal.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return survives(bytes, size, parse_journal, [](const Journal& journal) { return to_json(journal); });
}
