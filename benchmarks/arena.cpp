// What an operation of an arena takes, with more and more free blocks to choose from.
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "benchmarks/diffusion_chain.h"
#include "benchmarks/machine_name.h"
#include "simulator/caching_arena.h"
#include "simulator/plain_arena.h"
#include "simulator/replay.h"

using namespace stowage;
using benchmarks::mebi;

namespace {

// Buffers of sizes of all kinds; each operation replaces one of them by another, anywhere.
std::vector<JournalEntry> churn(std::uint32_t buffers, std::uint32_t operations) {
  std::mt19937_64 dice(1);
  const auto size = [&] {
    const std::int64_t scale = std::int64_t{1} << (9 + dice() % 16);
    return Bytes{scale + static_cast<std::int64_t>(dice() % 1000) * scale / 1000};
  };
  std::vector<JournalEntry> entries;
  for (std::uint32_t buffer = 0; buffer < buffers; ++buffer)
    entries.push_back({{0}, buffer, true, size(), 0});
  for (std::uint32_t i = 0; i < operations; i += 2) {
    const auto buffer = static_cast<std::uint32_t>(dice() % buffers);
    entries.push_back({{i}, buffer, false, {}, 0});
    entries.push_back({{i}, buffer, true, size(), 0});
  }
  return entries;
}

double nanos_each(const std::vector<JournalEntry>& entries, SimulatedArena& arena) {
  const auto start = std::chrono::steady_clock::now();
  replay(entries, arena, nullptr);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(entries.size());
}

}  // namespace

int main() {
  std::printf("on %s\n\nnanoseconds an allocation or free\n", benchmarks::machine_name().c_str());
  std::printf("buffers     ideal   caching  expandable     plain\n");
  constexpr Bytes no_limit{INT64_MAX};
  for (std::uint32_t buffers : {10u, 100u, 1000u, 10'000u, 100'000u}) {
    const std::vector<JournalEntry> entries = churn(buffers, 1'000'000);
    IdealArena ideal(no_limit);
    CachingArena caching(no_limit, {}), expandable(no_limit, {true, {}});
    std::printf("%7u  %8.1f  %8.1f  %10.1f", buffers, nanos_each(entries, ideal),
                nanos_each(entries, caching), nanos_each(entries, expandable));
    if (buffers > 1000) {
      std::printf("\n");
      continue;
    }
    PlainArena plain(no_limit, {});
    std::printf("  %8.1f\n", nanos_each(churn(buffers, 2000), plain));
  }
}
