#include "tests/catch.h"
#include "traces/import/block_classes.h"
#include "traces/import/block_memory.h"
#include "traces/import/call_tree.h"
#include "traces/import/copy_kind.h"
#include "traces/import/intervals.h"
#include "traces/import/link_fit.h"
#include "traces/import/memory_log.h"

using namespace stowage;

namespace {

// kinds: 0 the model, 1 stages, 2 blocks, 3 attention, 4 linears
constexpr std::uint32_t model = 0, stage = 1, block = 2, attention = 3, linear = 4;

// A model of `stages` stages of `blocks` blocks of 10 us, each with an attention and two linears; without
// stages the blocks are the model's own.
std::vector<Call> model_of(std::uint32_t stages, std::uint32_t blocks) {
  std::vector<Call> calls = {{model, 0, std::nullopt, {std::int64_t{10} * blocks * std::max(stages, 1U)}}};
  for (std::uint32_t s = 0; s < std::max(stages, 1U); ++s) {
    std::uint32_t holder = 0;
    if (stages > 0) {
      calls.push_back({stage, s, 0U, {std::int64_t{10} * blocks}});
      holder = static_cast<std::uint32_t>(calls.size() - 1);
    }
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const std::uint32_t id = s * blocks + b;
      calls.push_back({block, id, holder, {10}});
      const auto own = static_cast<std::uint32_t>(calls.size() - 1);
      calls.push_back({attention, id, own, {5}});
      calls.push_back({linear, id * 2, own + 1, {3}});
      calls.push_back({linear, id * 2 + 1, own, {4}});
    }
  }
  return calls;
}

}  // namespace

TEST_CASE("blocks are the outermost calls that repeat, but for stages") {
  REQUIRE(block_kinds(model_of(0, 12), false) == std::vector<std::uint32_t>{block});
  REQUIRE(block_kinds(model_of(4, 3), false) == std::vector<std::uint32_t>{block});
  REQUIRE(block_kinds(model_of(4, 1), false) ==
          std::vector<std::uint32_t>{stage});  // a stage of one block is a block
  REQUIRE(block_kinds(model_of(0, 1), false).empty());
  REQUIRE(block_kinds({}, true).empty());
}

TEST_CASE("two kinds side by side are both blocks") {
  std::vector<Call> calls = {{model, 0, std::nullopt, {100}}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    calls.push_back({5, i, 0U, {15}});
    calls.push_back({attention, i, static_cast<std::uint32_t>(calls.size() - 1), {6}});
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    calls.push_back({6, i, 0U, {10}});
    calls.push_back({attention, 4 + i, static_cast<std::uint32_t>(calls.size() - 1), {6}});
  }
  REQUIRE(block_kinds(calls, false) == std::vector<std::uint32_t>{5, 6});
}

TEST_CASE("a name's kind is what is left without its numbers") {
  REQUIRE(kind_name("DecoderLayer_12") == "DecoderLayer");
  REQUIRE(kind_name("block 3") == "block");
  REQUIRE(kind_name("layers.11.mlp") == "layers..mlp");
  REQUIRE(kind_name("Conv2d_0") == "Conv2d");
  REQUIRE(kind_name("## forward ##") == "## forward ##");
}

TEST_CASE("allocations add up from the level before the log") {
  const std::vector<MemoryOperation> log = {
      {{1}, 10, {100}, 0}, {{2}, 11, {20}, 1}, {{3}, 11, {-20}, 0}, {{4}, 10, {-100}, 0}};
  const MemoryAccount known = account(log, Bytes{1000}, 2);
  REQUIRE(known.peak == Bytes{1120});
  REQUIRE(known.peak_at == Nanos{2});
  REQUIRE(known.owners == std::vector<Bytes>{{100}, {20}});
  REQUIRE(known.end == Bytes{1000});
  REQUIRE(known.curve.size() == 4);
}

TEST_CASE("frees of what is not there are counted and change nothing") {
  // 100 persists, 20 comes and goes; then one address that nobody allocated and one address twice.
  const std::vector<MemoryOperation> log = {{{0}, 1, {100}, 0},  {{10}, 2, {20}, 1},   {{20}, 2, {-20}, 0},
                                            {{30}, 9, {-64}, 0}, {{40}, 1, {-100}, 0}, {{50}, 1, {-100}, 0}};
  const MemoryAccount found = account(log, std::nullopt, 2);
  REQUIRE(found.peak == Bytes{120});
  REQUIRE(found.owners == std::vector<Bytes>{{100}, {20}});
  REQUIRE(found.unknown_frees == 1);
  REQUIRE(found.double_frees == 1);
  REQUIRE(found.end == Bytes{});
  // With nothing alive at the end, the unknown 64 were alive at the begin.
  REQUIRE(level_before(log, Bytes{}) == Bytes{64});
  REQUIRE(account(log, Bytes{64}, 2).end == Bytes{});
}

TEST_CASE("an address that is allocated anew after a free is a new allocation") {
  const std::vector<MemoryOperation> log = {{{1}, 5, {10}}, {{2}, 5, {-10}}, {{3}, 5, {30}}, {{4}, 5, {-30}}};
  const MemoryAccount found = account(log, std::nullopt, 1);
  REQUIRE(found.peak == Bytes{30});
  REQUIRE(found.double_frees == 0);
}

TEST_CASE("a block keeps what outlives it, less what it releases") {
  const std::vector<MemoryOperation> log = {
      {{1}, 1, {100}}, {{2}, 2, {50}}, {{3}, 2, {-50}}, {{4}, 77, {-30}}, {{5}, 3, {8}}};
  const BlockMemory memory = memory_of(log);
  REQUIRE(memory.kept == std::vector<Bytes>{{100}, {8}});
  REQUIRE(memory.net() == Bytes{78});    // 100 + 8 - 30
  REQUIRE(memory.rise == Bytes{150});    // 100 + 50
  REQUIRE(memory.output() == Bytes{8});  // the last
}

TEST_CASE("what a block saves is what it keeps when it is run again, beside the output it kept at first") {
  const auto made = [](std::uint64_t address, long bytes) { return MemoryOperation{{}, address, {bytes}}; };
  // 100 B and 50 B for a while, then 28 B of output
  const std::vector<MemoryOperation> forward = {made(1, 100), made(2, 50), made(1, -100), made(3, 28),
                                                made(2, -50)};
  // The second time the 100 B and the 50 B stay; it may stop before the output, or go on to it.
  const std::vector<MemoryOperation> stopped = {made(4, 100), made(5, 50)},
                                     complete = {made(4, 100), made(5, 50), made(6, 28)},
                                     let_go = {made(4, 100), made(5, 50), made(6, 28), made(6, -28)};
  for (const auto& again : {stopped, complete, let_go})
    REQUIRE(saved_without_rerun(memory_of(forward), memory_of(again)) == Bytes{178});
}

TEST_CASE("equal blocks are not told apart by what the allocator gave too much") {
  constexpr std::int64_t mebibyte = 1 << 20;
  const auto made = [](std::vector<std::int64_t> sizes) {
    BlockMemory memory;
    for (const std::int64_t size : sizes) memory.kept.push_back({size});
    return memory;
  };
  BlockMemory a = made({512, 8 * mebibyte, 64 * mebibyte + 524288, 2048}),
              b = made({512, 8 * mebibyte, 64 * mebibyte, 2048});
  BlockMemory other = made({512, 4 * mebibyte, 32 * mebibyte, 2048});
  std::vector<BlockMemory*> all = {&a, &b, &other};
  even_out(all);
  REQUIRE(a.net() == b.net());
  REQUIRE(a.kept[2] == Bytes{64 * mebibyte});
  REQUIRE(other.kept[2] == Bytes{32 * mebibyte});
}

TEST_CASE("copies are told apart by name") {
  REQUIRE(copy_kind_of("Memcpy HtoD (Pinned -> Device)") == CopyKind{CopyDirection::h2d, HostSide::pinned});
  REQUIRE(copy_kind_of("Memcpy DtoH (Device -> Pageable)") ==
          CopyKind{CopyDirection::d2h, HostSide::pageable});
  REQUIRE(copy_kind_of("Memcpy HtoD (Host -> Device)") == CopyKind{CopyDirection::h2d, HostSide::unknown});
  REQUIRE(copy_kind_of("CopyDeviceToHost") == CopyKind{CopyDirection::d2h, HostSide::unknown});
  REQUIRE(copy_kind_of("Memcpy DtoD (Device -> Device)").direction == CopyDirection::on_device);
  REQUIRE(copy_kind_of("Memcpy PtoP (Device -> Device)").direction == CopyDirection::peer);
}

TEST_CASE("a link's rate and latency come out of its copies") {
  // 10 us and 20 B/ns: 1 MB takes 10 000 + 50 000 ns
  std::vector<CopySample> samples;
  for (const std::int64_t bytes : {4096, 65536, 1000000, 8000000, 64000000})
    samples.push_back({{bytes}, {10000 + bytes / 20}});
  const CopyFit fit = fit_link(samples).value();
  REQUIRE(fit.rate.bytes_per_second == Approx(20e9).epsilon(0.001));
  REQUIRE(fit.latency.value == Approx(10000).epsilon(0.01));
  REQUIRE(fit.error < 0.001);
  samples.push_back({{1000000}, {600000}});  // one that had to share
  samples.push_back({{0}, {50}});
  const CopyFit shared = fit_link(samples).value();
  REQUIRE(shared.rate.bytes_per_second == Approx(20e9).epsilon(0.02));
}

TEST_CASE("copies of one size tell a rate only") {
  REQUIRE(!fit_link({}));
  const CopyFit fit = fit_link({{{1000000}, {100000}}, {{1000000}, {100000}}}).value();
  REQUIRE(fit.latency == Nanos{});
  REQUIRE(fit.rate.bytes_per_second == 10'000'000'000);
  REQUIRE(fit.time_for({2000000}) == Nanos{200000});
}

TEST_CASE("intervals unite and overlap") {
  const auto at = [](std::int64_t begin, std::int64_t end) { return BusyInterval{{begin}, {end}}; };
  const std::vector<BusyInterval> a = united({at(5, 9), at(0, 3), at(2, 4), at(9, 10), at(7, 7)});
  REQUIRE(a.size() == 2);  // [0, 4) and [5, 10)
  REQUIRE(length(a) == Nanos{9});
  REQUIRE(overlap(a, united({at(3, 6), at(8, 20)})) == Nanos{4});  // [3,4) [5,6) [8,10)
}
