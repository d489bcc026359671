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

// What a block's weights are besides the feed-forward part.
struct GroupWeights {
  std::int64_t heads = 1;
  std::int64_t query_width = 0, key_value_width = 0;  // of an attention's projections
  std::int64_t streams = 1;                           // 2: image and text tokens have weights of their own
  double modulation = 0;                              // further weights, in squares of the width
  std::optional<std::int64_t> projections =
      {};  // matrices that a block multiplies with, if the shape says fewer
  std::optional<std::int64_t> parameters = {};  // of one block, where the shape does not say them (experts)

  bool operator==(const GroupWeights&) const = default;
};

struct GroupShape {
  std::int64_t width = 0;
  std::int64_t image_tokens = 0, text_tokens = 0;  // of one sample, in the block's residual stream
  std::int64_t attentions = 0;                     // over all tokens; cross-attention counts as one
  std::int64_t image_attentions = 0;               // further ones, over the image tokens alone
  std::int64_t ffn_width = 0;
  bool ffn_gated = false;
  GroupWeights weights;

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

// How many tokens a sample has: frames and pixels of the picture to one token. The groups' image tokens are
// those at `resolution` (the side of a square of as many pixels) and `frames`.
struct Sampling {
  std::int64_t pixels_per_token = 0, frames_per_token = 1;
  std::int64_t resolution = 0, frames = 1;

  bool operator==(const Sampling&) const = default;
};

// full: all weights are trained. lora: two matrices of a rank beside each projection of the attentions. lokr:
// each adapted matrix is a Kronecker product, of which the larger factor is a matrix smaller by `factor`.
enum class AdapterKind : std::uint8_t { full, lora, lokr };
enum class OptimizerKind : std::uint8_t { adamw, adamw_fp32, adamw_8bit, lion, adafactor, sgd };

// How a family was trained for the published sweep.
struct Recipe {
  AdapterKind adapter = AdapterKind::lora;
  std::int64_t rank = 16;
  std::int64_t attention_factor = 0, ffn_factor = 0;  // of lokr; 0: not adapted
  OptimizerKind optimizer = OptimizerKind::adamw;
  bool streamed_weights = false;  // the blocks' weights are on the host, and come layer by layer
  bool compiled = false;          // by blocks, which hides what checkpointing does

  bool operator==(const Recipe&) const = default;
};

// What the catalogue says of a family besides how its blocks run.
struct FamilyFacts {
  std::string id;                     // on the command line
  std::string model;                  // which of its sizes, or whose configuration
  std::string trainer_family;         // SimpleTuner's model_family; "" where it has none
  std::string implementation;         // families of one name share code; "" where it shares none
  std::int64_t parameters = 0;        // known total of the trained network; 0: not known
  std::int64_t other_parameters = 0;  // of these, what is in no block
  std::int64_t vocabulary = 0;        // of a language model: its loss is over so many logits a token

  bool operator==(const FamilyFacts&) const = default;
};

struct Family {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t activation_bytes = 2;     // of one number
  std::optional<Segmenting> segmenting;  // absent: the trainer checkpoints all blocks or none
  bool segments_cross_groups = false;    // the count of blocks runs on from group to group
  bool interleaved = false;              // the groups take turns, block by block
  std::vector<BlockGroup> groups;        // in the order in which they run; those never checkpointed left out
  std::vector<BlockGroup> outside;       // those, that no option reaches
  FamilyFacts facts;
  std::optional<Sampling> sampling;  // absent: sequences
  Recipe recipe;

  bool operator==(const Family&) const = default;
};

// Weights of one block.
std::int64_t parameters_of(const GroupShape& shape);
// Weights of all blocks, those outside included, and of what is in no block.
std::int64_t parameters_of(const Family& family);

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

// The family of that name or id; a note in parentheses at the end of the name tells runs apart, not shapes.
// Null where there is none.
const Family* find_family(const std::vector<Family>& families, const std::string& name);

// Reads and checks a catalogue of families. Throws InputError with the path of the key, SystemError if the
// file cannot be read. Refuses unknown keys, names that come twice, and figures out of range.
std::vector<Family> read_families(const std::string& file);
std::vector<Family> parse_families(const std::string& text);

}  // namespace stowage
