#include "tests/simulator/random_journal.h"

#include <random>
#include <utility>

namespace stowage::tests {
namespace {

constexpr std::int64_t mib = 1 << 20;

class JournalDice {
 public:
  explicit JournalDice(std::uint64_t seed) : generator_(seed) {}
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::mt19937_64 generator_;
};

std::int64_t random_size(JournalDice& dice) {
  const std::int64_t edges[] = {0, 512, mib, 2 * mib, 10 * mib, 20 * mib};
  switch (dice.below(5)) {
    case 0:
      return edges[dice.below(6)] + dice.below(3);
    case 1:
      return 1 + dice.below(4000);
    case 2:
      return 1 + dice.below(mib);
    case 3:
      return mib + dice.below(10 * mib);
    default:
      return mib * (1 + dice.below(60));
  }
}

}  // namespace

Journal random_journal(std::uint64_t seed) {
  JournalDice dice(seed);
  Journal journal;
  journal.name = "random";
  for (std::int64_t i = 1 + dice.below(3); i > 0; --i) journal.streams.push_back("stream");
  const auto streams = static_cast<std::int64_t>(journal.streams.size());
  std::vector<std::int64_t> usual;  // sizes
  for (std::int64_t i = 1 + dice.below(6); i > 0; --i) usual.push_back(random_size(dice));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> alive;  // with their streams
  std::vector<std::uint32_t> spare;
  const std::int64_t entries = 20 + dice.below(200), most = 1 + dice.below(60);
  std::uint32_t buffers = 0;
  Nanos now;
  for (std::int64_t i = 0; i < entries; ++i) {
    now += Nanos{dice.below(4)};
    const auto count = static_cast<std::int64_t>(alive.size());
    if (count > 0 && dice.below(2 * most) < count) {
      std::swap(alive[static_cast<std::size_t>(dice.below(count))], alive.back());
      const auto [buffer, stream] = alive.back();
      alive.pop_back();
      spare.push_back(buffer);
      const bool elsewhere = dice.below(3) == 0;
      journal.entries.push_back(
          {now, buffer, false, {}, elsewhere ? static_cast<std::uint32_t>(dice.below(streams)) : stream});
      continue;
    }
    const auto stream = static_cast<std::uint32_t>(dice.below(3) == 0 ? dice.below(streams) : 0);
    const bool odd = dice.below(3) == 0;
    const std::int64_t size =
        odd ? random_size(dice)
            : usual[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(usual.size())))];
    std::uint32_t buffer = buffers;
    if (spare.empty()) {
      ++buffers;
    } else {
      buffer = spare.back();
      spare.pop_back();
    }
    alive.push_back({buffer, stream});
    journal.entries.push_back({now, buffer, true, {size}, stream});
  }
  return journal;
}

}  // namespace stowage::tests
