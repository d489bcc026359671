// The nodes of an execution trace, and the time order that they stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/import/byte_window.h"
#include "traces/import/kineto_trace.h"
#include "traces/import/repairs.h"

namespace stowage {

struct TensorUse {
  std::uint64_t storage;
  Bytes bytes;  // up to the tensor's end in its storage
};

struct ExecutionNode {
  std::uint64_t id = 0, parent = 0;
  NameTable::Id name = 0;
  std::uint32_t shapes = 0;  // a hash
  std::int64_t thread = 0, forward_thread = 0, scope = 0;
  std::optional<std::uint32_t> sequence;
  std::vector<TensorUse> inputs, outputs;
};

struct ExecutionNodes {
  NameTable names;
  std::vector<ExecutionNode> nodes;  // in the order of their ids, which is that of their begins
};

ExecutionNodes read_execution_nodes(ByteWindow& window, Repairs& repairs);

// As a Kineto trace whose clock ticks once, a microsecond, at every begin and end of a node: host spans
// alone, one for each node and in the same order. Nodes that only stand for a process or a thread are
// annotations without a name.
KinetoTrace as_host_trace(const ExecutionNodes& nodes);

}  // namespace stowage
