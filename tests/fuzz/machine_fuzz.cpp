#include "tests/fuzz/attempt.h"
#include "traces/machine.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return survives(bytes, size, parse_machine, [](const Machine& machine) { return to_json(machine); });
}
