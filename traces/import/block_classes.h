// Which kind of calls makes up a model's blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/units.h"

namespace stowage {

// The call of a module, or a range with a name.
struct Call {
  std::uint32_t kind;                   // calls of one class share it
  std::uint32_t instance;               // of its kind: calls of the same layer share it
  std::optional<std::uint32_t> holder;  // index of the narrowest call around it, which comes before it
  Nanos duration;
};

// The kinds whose calls are the blocks, none of them inside one another, most of the time first. A block is
// of a kind with two instances or more, outermost, holding calls itself unless `leaves` are allowed, that
// takes a twentieth of the time at least; but a stage, whose time goes to several calls of one such kind,
// gives way to those.
//
//   Model > Stage_0 > Block_0 > Attention_0, Mlp_0
//                   > Block_1 > Attention_1, Mlp_1
//         > Stage_1 > Block_2 ...
//
// Calls in time order. Empty where nothing repeats. Cost: linear in the calls times their nesting.
std::vector<std::uint32_t> block_kinds(const std::vector<Call>& calls, bool leaves);

}  // namespace stowage
