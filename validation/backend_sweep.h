// A published sweep over ways to checkpoint a chain of equal, plain transformer blocks with frozen weights:
// nothing, the feed-forward part or the whole block; recomputed, or with what the recomputation starts from
// on the host as well ("unsloth").
//
// A block keeps, in activations of tokens x width x 2 bytes besides its input: query, key, value and output
// of the attention, the sum after it, and four of the hidden layer. That is all the shape need say: peaks are
// predicted from the row `none` alone. Times need `torch-layer` too, for how long a forward takes.
#pragma once

#include <string>
#include <vector>

#include "validation/link_table.h"
#include "validation/published_check.h"

namespace stowage {

struct BackendRow {
  std::string gpu, mode;
  std::int64_t layers = 1, width = 1, tokens = 1;
  Nanos step;
  Bytes peak;

  bool operator==(const BackendRow&) const = default;
};

// Columns gpu, layers, width, tokens, mode, seconds and peak_gib. Throws InputError with line and column; for
// modes other than none, torch-ffn, unsloth-ffn, torch-layer and unsloth-layer too.
std::vector<BackendRow> parse_backends(const std::string& text);

// Every chain needs its rows `none` and `torch-layer`, or InputError is thrown.
PublishedCheck check_backends(const std::vector<BackendRow>& rows, const std::vector<LinkRow>& links);

}  // namespace stowage
