// A plan described part by part: how many of the part's blocks do what, not which.
//
//   part     blocks 0..18 (double)                    blocks 19..56 (single)
//   roles    12 away, 7 recomputed; 5 swapped         8 away, 20 recomputed, 10 kept; 12 swapped
//
// Blocks of one role are spread evenly over the part, so that copies are. What blocks of one kind do matters
// by how many do it far more than by which: a few numbers say most of a plan for a chain of any length.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/block_table.h"
#include "plan/range.h"
#include "tuner/free/draft.h"

namespace stowage {

enum class Role : std::uint8_t { away, recompute, recompute_attention, recompute_ffn, keep };
inline constexpr std::size_t role_count = 5;

struct PartPattern {
  std::array<std::int64_t, role_count> blocks{};  // by Role; together all of the part
  std::int64_t swapped = 0;

  std::int64_t& of(Role role) { return blocks[static_cast<std::size_t>(role)]; }
  bool operator==(const PartPattern&) const = default;
};

struct Pattern {
  std::vector<PartPattern> parts;
  std::int64_t segment = 1;    // recomputed blocks in a row, where there are enough
  bool inputs_travel = false;  // of segments
  bool away_first = false;     // roles one after another, in the order of their names, instead of spread
  TransferSettings transfer;

  bool operator==(const Pattern&) const = default;
};

// Runs of blocks of one group; of chains with many, equal lengths of it.
std::vector<Range> parts_of(const BlockTable& table);

// Of `base`, whatever it does, what the pattern says. Cost: linear in the blocks.
Draft draft_of(const BlockTable& table, const std::vector<Range>& parts, const Pattern& pattern,
               const Draft& base);

}  // namespace stowage
