// The calls among a trace's host spans that may be blocks, and the blocks that a choice among them makes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/import/block_classes.h"
#include "traces/import/blocks.h"

namespace stowage {

// "DecoderLayer" of "DecoderLayer_12", "block" of "block 3": the name without its numbers.
std::string kind_name(std::string_view name);

class CallTree {
 public:
  // Of the spans that `accept` takes. Calls inside the backward are recomputation: they are kept, but say
  // nothing about the model's shape.
  CallTree(const KinetoTrace& trace, const HostOrder& order,
           const std::function<bool(const HostSpan&)>& accept);

  // Outside the backward.
  const std::vector<Call>& calls() const { return calls_; }
  // The blocks whose calls are of one of `kinds`, and how they are called.
  Blocks blocks_of(const std::vector<std::uint32_t>& kinds) const;
  // Those of every kind.
  Blocks all() const;

 private:
  struct Place {
    HostIndex span;
    std::uint32_t kind;
    bool backward;
  };

  Blocks make(const std::vector<bool>& chosen) const;

  const KinetoTrace* trace_;
  const HostOrder* order_;
  std::vector<Call> calls_;
  std::vector<Place> places_;  // of all calls, in the order of spans
  std::vector<std::string> kinds_;
};

}  // namespace stowage
