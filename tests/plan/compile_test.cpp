#include <algorithm>
#include <map>
#include <string>

#include "plan/program.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"

using namespace stowage;

namespace {

Program compiled(const Settings& settings, std::int64_t blocks = 3) {
  const BlockTable table(example_profile(blocks));
  return compile(table, expand(table, settings).plan);
}

}  // namespace

TEST_CASE("keep compiles to one pass forward and one back") {
  REQUIRE(describe(compiled({})) ==
          "compute  prologue  0 ns\n"
          "compute  forward 0  10 ns\n"
          "compute  forward 1  10 ns\n"
          "compute  forward 2  10 ns\n"
          "compute  epilogue  6 ns\n"
          "compute  backward 2  20 ns\n"
          "compute  backward 1  20 ns\n"
          "compute  backward 0  20 ns\n"
          "compute  optimizer  4 ns\n");
}

TEST_CASE("a segment recomputes forwards, then runs backwards; its input travels") {
  Settings settings;
  settings.policy = Policy::recompute_offload;
  settings.interval = 2;
  REQUIRE(describe(compiled(settings)) ==
          "compute  prologue  0 ns\n"
          "compute  forward 0  10 ns\n"
          "compute  forward 1  10 ns\n"
          "compute  forward 2  10 ns\n"
          "compute  epilogue  6 ns\n"
          "compute  recompute 2  10 ns  after restore_input 2\n"
          "compute  backward 2  20 ns\n"
          "compute  recompute 0  10 ns  after restore_input 0\n"
          "compute  recompute 1  10 ns\n"
          "compute  backward 1  20 ns\n"
          "compute  backward 0  20 ns\n"
          "compute  optimizer  4 ns\n"
          "h2d  restore_input 2  2 B  at begin of epilogue  after store_input 2\n"
          "h2d  restore_input 0  2 B  at begin of recompute 2  after store_input 0\n"
          "d2h  store_input 0  2 B  at end of forward 0\n"
          "d2h  store_input 2  2 B  at end of forward 2\n");
}

TEST_CASE("without prefetch a restore is issued when its step is next") {
  Settings settings;
  settings.policy = Policy::offload;
  settings.scope = Scope::attention;
  settings.transfer.prefetch = 0;
  const std::string text = describe(compiled(settings, 1));
  REQUIRE(text.find("h2d  restore_saved 0.0  12 B  at ready of backward 0  after store_saved 0.0\n") !=
          std::string::npos);
}

TEST_CASE("two uses of a swapped block in a row are one; two-way weights wait for their store") {
  Settings settings;
  settings.swap = {2, SwapWhich::last, SwapMode::two_way};
  // Uses: F1, F2 and B2 together, B1.
  const std::string text = describe(compiled(settings));
  REQUIRE(text.substr(text.find("h2d")) ==
          "h2d  load_weights 1  5 B  at ready of prologue\n"
          "h2d  load_weights 2  5 B  at begin of forward 1\n"
          "h2d  load_weights 1  5 B  at begin of forward 2  after store_weights 1\n"
          "d2h  store_weights 1  5 B  at end of forward 1\n"
          "d2h  store_weights 2  5 B  at end of backward 2\n"
          "d2h  store_weights 1  5 B  at end of backward 1\n");
}

TEST_CASE("where both are issued at one instant, weights go first") {
  Settings settings;
  settings.policy = Policy::offload;
  settings.scope = Scope::ffn;
  settings.swap = {2, SwapWhich::last, SwapMode::two_way};
  const std::string text = describe(compiled(settings));
  // At F1's end its weights go out before its saved tensor; at B2's begin block 1's weights would come before
  // it too.
  REQUIRE(text.find("store_weights 1") < text.find("d2h  store_saved 1.1"));
}

TEST_CASE("every buffer is born once and dies once, or is there from the start to the end") {
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload}) {
    Settings settings;
    settings.policy = policy;
    settings.interval = 2;
    settings.stride = 3;
    settings.swap = {3, SwapWhich::spread, SwapMode::two_way};
    const Program program = compiled(settings, 7);
    std::vector<int> born(program.buffers.size()), died(program.buffers.size());
    for (const MemoryEffect& effect : program.effects) ++(effect.alloc ? born : died)[effect.buffer];
    for (BufferId id : program.initial) ++born[id];
    for (BufferId id = 0; id < program.buffers.size(); ++id) {
      const Buffer& buffer = program.buffers[id];
      const bool stays =
          buffer.kind == BufferKind::resident || buffer.kind == BufferKind::optimizer_state ||
          (buffer.kind == BufferKind::weights &&
           std::find(program.initial.begin(), program.initial.end(), id) != program.initial.end());
      REQUIRE(born[id] == 1);
      REQUIRE(died[id] == (stays ? 0 : 1));
    }
  }
}
