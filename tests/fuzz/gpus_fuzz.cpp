// Whatever is accepted makes a machine.
#include "forecast/gpus.h"
#include "tests/fuzz/attempt.h"

using namespace stowage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto gpus = attempt(bytes, size, parse_gpus);
  if (!gpus) return 0;
  for (const Gpu& gpu : *gpus)
    for (const Platform platform : {Platform::linux, Platform::wsl2, Platform::windows})
      if (!(parse_machine(to_json(machine_of(gpu, platform))).device.memory == gpu.memory)) std::abort();
  return 0;
}
