// A value that is set is there, one that is erased is not, whatever the configuration. The first byte chooses
// the format.
#include "tests/fuzz/attempt.h"
#include "traces/config/config_text.h"

using namespace stowage;

namespace {

int change(const std::string& text) {
  const auto format =
      static_cast<ConfigFormat>((text.empty() ? 0 : text[0] & 7) % config_format_names.size());
  const auto config = config_text(format, text.empty() ? "" : text.substr(1));
  for (const char* path : {"a", "t.b"}) {
    config->set(path, ConfigValue(std::int64_t{7}));
    if (config->value(path) != ConfigValue(std::int64_t{7})) std::abort();
    config->erase(path);
    if (config->value(path)) std::abort();
  }
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  attempt(bytes, size, change);
  return 0;
}
