// What SimpleTuner's memory options do to each model family: some families read an option in another way, or
// not at all. As of SimpleTuner bc8e6ab.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// What gradient_checkpointing_interval N does; with a stride S, N of every S blocks are chosen.
enum class Intervals : std::uint8_t {
  none,       // refused: all blocks or none
  segments,   // segments of N blocks
  every_nth,  // single blocks, one of every N
};

// Which blocks are checkpointed, one by one, where segments are asked for but cannot be made.
enum class SingleBlocks : std::uint8_t { all, by_interval, by_stride };

struct SimpleTunerFamily {
  std::string_view name;  // as model_family has it
  Intervals intervals;
  SingleBlocks single_blocks;
  bool attention_offload;  // gradient_checkpointing_offload_attention is accepted
  bool ffn_backends;       // torch-ffn and unsloth-ffn are
  bool backends;           // another backend than torch is obeyed
  bool swaps;              // musubi_blocks_to_swap reaches the model
  bool segments_while_swapping;
};

// Null where there is none of that name.
const SimpleTunerFamily* find_simpletuner_family(std::string_view name);
std::vector<std::string> simpletuner_family_names();

}  // namespace stowage
