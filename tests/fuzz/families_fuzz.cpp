// Whatever is accepted has a chain whose figures fit.
#include "tests/fuzz/attempt.h"
#include "validation/families.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto families = attempt(bytes, size, parse_families);
  if (!families) return 0;
  for (const Family& family : *families) {
    if (parameters_of(family) < 0) std::abort();
    for (const BlockGroup& group : family.groups)
      if (kept_by(family, group.shape) < Bytes{} || !(input_of(family, group.shape) > Bytes{}) ||
          !(work_of(family, group.shape) >= 0))
        std::abort();
  }
  return 0;
}
