// How musubi-tuner (30c658c) and sd-scripts (48d368f) share a count of blocks to swap among a model's lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/block_table.h"
#include "tuner/dialects/rotation.h"

namespace stowage {

enum class SwapSplit : std::uint8_t {
  none,      // the option does nothing
  one_list,  // all blocks are one list
  halves,    // n/2 of the first list, 2(n - n/2) of the second
  halves_1,  // n/2 of the first list, 2(n - n/2) + 1 of the second
  by_ratio,  // by the lengths of the lists, a block of the first for two of the second
};

struct KohyaFamily {
  std::string_view name;
  std::string_view script;  // by which a command line is known: "flux_kontext_train"
  SwapSplit split;
  std::int64_t stay;               // blocks of each list that cannot be swapped
  bool cpu_offload = true;         // checkpointing to the CPU is obeyed
  std::int64_t limit = 1'000'000;  // of the option, whatever the model
};

// Throws InputError naming "blocks_to_swap", with the most there can be, where it is more; and naming
// "family" where the profile has not as many groups of blocks as the model has lists.
std::vector<Away> away_of(const KohyaFamily& family, const BlockTable& table, std::int64_t blocks_to_swap);
// The most that is accepted.
std::int64_t most_away(const KohyaFamily& family, const BlockTable& table);

std::vector<std::string> names_of(std::span<const KohyaFamily> families);
// Throws InputError with the names there are.
const KohyaFamily& family_in(std::span<const KohyaFamily> families, const std::string& name);
// Of the script that the words of a command line name; "" where none is known.
std::string family_of_script(std::span<const KohyaFamily> families, const std::string& command);

}  // namespace stowage
