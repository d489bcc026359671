// Shapes of model families whose training was measured by others: how many blocks of which width run over how
// many tokens, and what the family's trainer means by an interval.
//
// A shape says what no measurement need say: how large a block's input is, and how what a block keeps and
// computes compares from one kind of block to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/settings.h"
#include "traces/units.h"

namespace stowage {

struct GroupShape {
  std::int64_t width = 0;
  std::int64_t image_tokens = 0, text_tokens = 0;  // of one sample, in the block's residual stream
  std::int64_t attentions = 0;                     // over all tokens; cross-attention counts as one
  std::int64_t image_attentions = 0;               // further ones, over the image tokens alone
  std::int64_t ffn_width = 0;
  bool ffn_gated = false;

  std::int64_t tokens() const { return image_tokens + text_tokens; }
  bool operator==(const GroupShape&) const = default;
};

// Equal blocks in a row.
struct BlockGroup {
  std::string name;
  std::int64_t blocks = 1;
  GroupShape shape;
  bool always_checkpointed = false;  // singly, whenever checkpointing is on, whatever the interval
  // A later block reads each of these blocks' outputs again (a skip connection), so that no segment frees it.
  bool output_read_later = false;

  bool operator==(const BlockGroup&) const = default;
};

struct Family {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t activation_bytes = 2;     // of one number
  std::optional<Segmenting> segmenting;  // absent: the trainer checkpoints all blocks or none
  bool segments_cross_groups = false;    // the count of blocks runs on from group to group
  bool interleaved = false;              // the groups take turns, block by block
  std::vector<BlockGroup> groups;        // in the order in which they run; those never checkpointed left out

  bool operator==(const Family&) const = default;
};

// One entry a block, in the order in which they run. Points into `family`.
std::vector<const BlockGroup*> chain_of(const Family& family);

// What enters a block of this group.
Bytes input_of(const Family& family, const GroupShape& shape);
// What a block keeps for its backward besides its input, if it keeps what its backward reads and no more:
// query, key, value and output of each attention and the sum after it, and the hidden layer of the
// feed-forward part (gate, activated gate and product where it is gated).
Bytes kept_by(const Family& family, const GroupShape& shape);
// Multiplications of one forward.
double work_of(const Family& family, const GroupShape& shape);

// The family of that name; a note in parentheses at the end of the name tells runs apart, not shapes. Null
// where there is none.
const Family* find_family(const std::vector<Family>& families, const std::string& name);

// Reads and checks a catalogue of families. Throws InputError with the path of the key, SystemError if the
// file cannot be read. Refuses unknown keys, names that come twice, and figures out of range.
std::vector<Family> read_families(const std::string& file);
std::vector<Family> parse_families(const std::string& text);

}  // namespace stowage
