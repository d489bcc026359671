// What a byte transformer looks like, as a small JSON file says it:
//
//   {"format": "stowage.model", "version": 1, "layers": 12, "width": 192, "heads": 6, "context": 128,
//    "batch": 6, "dropout": 0.1, "ffn_multiple": 4, "training": "lora", "lora_rank": 8, "lora_alpha": 16}
//
// The first seven keys are required. `lora_rank` and `lora_alpha` stand only beside "training": "lora".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stowage {

// Low-rank adapters beside frozen projections: y = W x + (alpha / rank) up (down x).
struct LoraConfig {
  std::int64_t rank = 8;
  double alpha = 16;

  bool operator==(const LoraConfig&) const = default;
};

struct TransformerConfig {
  std::int64_t layers = 12;
  std::int64_t width = 192;  // of the residual stream; a multiple of `heads`
  std::int64_t heads = 6;
  std::int64_t context = 128;      // bytes of text in a sequence
  std::int64_t batch = 6;          // sequences in a step
  std::int64_t ffn_multiple = 4;   // hidden width of the feed-forward, in widths
  double dropout = 0.1;            // of what attention and feed-forward add to the stream
  std::optional<LoraConfig> lora;  // absent: every parameter is trained

  bool operator==(const TransformerConfig&) const = default;
};

// Throws InputError with the path of the key, SystemError if the file cannot be read.
TransformerConfig read_transformer(const std::string& file);
TransformerConfig parse_transformer(const std::string& text);

// "transformer 12x192", with " lora 8" where it is trained by adapters.
std::string name_of(const TransformerConfig& config);

}  // namespace stowage
