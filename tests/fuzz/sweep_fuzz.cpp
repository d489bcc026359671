// Whatever is accepted is also predicted, whatever its figures.
#include "tests/fuzz/attempt.h"
#include "validation/sweep.h"

using namespace stowage;

namespace {

std::vector<Family> one_family() {
  return parse_families(
      R"({"format": "stowage.families", "version": 1, "source": "", "families": [{"family": "A",
          "segmenting": "contiguous", "groups": [{"name": "g", "blocks": 3, "width": 8, "text_tokens": 8,
          "attentions": 1, "ffn_width": 8}]}]})");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<Family> families = one_family();
  const auto parse = [](const std::string& text) { return parse_sweep(text, families); };
  if (const auto rows = attempt(bytes, size, parse)) predict_sweep(*rows, families);
  return 0;
}
