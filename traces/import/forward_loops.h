// Finds a model's blocks in call stacks: the lines of its forward that come round again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace stowage {

// A line of a function called "forward", or one that the user named; equal lines are equal numbers.
using ForwardLine = std::uint32_t;

// One turn of a loop over blocks: allocations [first, last), by the order in which they were added.
struct ForwardTurn {
  std::size_t loop;   // which loop, in the order of first appearance
  std::size_t block;  // of that loop, counted from 0 in each step
  std::size_t step;
  std::size_t first, last;
};

// One turn of a loop over blocks that was run again, inside the backward. Those of one run come in order,
// with no other allocation between them.
struct ForwardRerun {
  std::size_t run;
  bool whole;  // begins at a block's first line
  std::size_t first, last;
};

struct ForwardReruns {
  std::vector<ForwardRerun> turns;  // in the order of `first`
  std::vector<std::size_t> others;  // allocations that ran again under no line of a block
};

// Watches the lines of each allocation's stack, outermost first.
//
//   model.py:253  model.py:382  ...     the line 253 holds the loop over blocks, 382 is a block's first line
//   model.py:253  model.py:386  ...
//   model.py:253  model.py:382  ...     back at the first line: the next block
//
// A loop is a chain of lines under which the next line comes back to the first one seen, twice a step or
// more, with a tenth of all allocations under it; the outermost such chains are taken. A step begins where
// the outermost line of all comes back to the first one seen. Cost: linear in the lines.
class ForwardLoops {
 public:
  static constexpr std::size_t deepest = 24;  // lines beyond are not looked at

  // `named`: a loop is any chain that leads to a line of which the user said that it is a block's, and no
  // other.
  explicit ForwardLoops(bool named);

  // `lines` may be empty: an allocation outside any forward. `in_block`: the last line is a block's.
  void add(std::span<const ForwardLine> lines, bool in_block);
  // An allocation of a forward that ran again inside a backward; `lines` are those within the backward.
  void add_again(std::span<const ForwardLine> lines);

  // In the order of `first`. A turn that ends a step lasts until the first allocation outside its loop.
  std::vector<ForwardTurn> turns() const;
  ForwardReruns reruns() const;

 private:
  // A chain of lines. The two empty ones, which all others go on from, are their own parents.
  static constexpr std::uint32_t forward = 0, again = 1;
  struct Chain {
    std::uint32_t parent = 0;  // without its last line
    std::uint32_t root = forward;
    ForwardLine line = 0;  // its last
    std::size_t allocations = 0, rounds = 0;
    std::optional<ForwardLine> first, latest;  // of the lines that come next
    bool leads_to_block = false;

    bool pass(ForwardLine next);
  };

  std::uint32_t walk(std::uint32_t chain, std::span<const ForwardLine> lines);
  std::uint32_t next_chain(std::uint32_t chain, ForwardLine line);
  std::vector<bool> loops() const;
  std::vector<std::uint32_t> links_of(std::uint32_t chain) const;

  bool named_;
  std::vector<Chain> chains_;
  std::unordered_map<std::uint64_t, std::uint32_t> next_;  // chain after a chain and a line
  std::vector<std::uint32_t> allocations_;                 // the chain of each
};

}  // namespace stowage
