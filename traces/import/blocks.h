// Where a trace's blocks are: which stretches of the host's time belong to which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/import/host_order.h"

namespace stowage {

using BlockId = std::uint32_t;  // dense, in the order of first execution

// No model has more: where so many are found, they are something else.
inline constexpr std::size_t most_blocks = 100'000;

// How blocks were found, in the order of preference.
enum class FoundBy : std::uint8_t { pattern, annotations, modules, operators, frames, nothing };
const char* name_of(FoundBy how);

struct BlockName {
  std::string name;   // "DecoderLayer_3"
  std::string group;  // of blocks of one kind: "DecoderLayer"
};

// A block at work in the forward: once for each time it is called.
struct Occurrence {
  BlockId block;
  ThreadId thread;
  Nanos begin, end;
  // Until when what it allocated may be freed on its behalf: a forward that runs again is left as soon as all
  // is there again, and what it lets go of is freed after its span, before anything else is allocated.
  Nanos settled = {};
};

struct Blocks {
  FoundBy how = FoundBy::nothing;
  std::vector<BlockName> names;
  std::vector<std::optional<BlockId>> marks;  // by HostIndex: what a span, and all inside it, belongs to
  std::vector<Occurrence> forward;            // in time order
  std::vector<Occurrence> recomputed;         // likewise, inside the backward
  bool reruns_unseen = false;                 // some run again inside the backward, and it is not known which
};

// For each span whether it lies inside a backward node, or is one.
std::vector<bool> inside_backward(const HostOrder& order);

// Looks for ranges that the user named with a number or repeats in a step; then for modules; then for
// operators that repeat. With `pattern`, a regular expression, blocks are the ranges, modules or operators,
// outermost, whose name it matches somewhere. Throws InputError if the pattern is none.
Blocks find_blocks(const KinetoTrace& trace, const HostOrder& order,
                   const std::optional<std::string>& pattern);

}  // namespace stowage
