#include "traces/import/execution_trace.h"

#include <algorithm>
#include <unordered_map>

#include "traces/import/attribution.h"
#include "traces/import/execution_nodes.h"
#include "traces/import/medians.h"
#include "traces/import/steps.h"

namespace stowage {
namespace {

// Sums, by block and step, the storages that blocks make and the backward reads.
class SavedStorages {
 public:
  SavedStorages(std::size_t blocks, std::size_t steps) : saved_(blocks, std::vector<Bytes>(steps)) {}

  void add(const ExecutionNode& node, const Context& context, std::optional<std::size_t> step) {
    const bool backward = context.phase == Phase::backward || context.phase == Phase::recompute;
    for (const TensorUse& input : node.inputs) {
      if (backward) save(input.storage);
    }
    for (const TensorUse& output : node.outputs) {
      const bool made = std::none_of(node.inputs.begin(), node.inputs.end(),
                                     [&](const TensorUse& input) { return input.storage == output.storage; });
      if (made) make(output, context, step);
    }
  }

  Bytes of(BlockId block) const {
    std::vector<Bytes> present;
    for (const Bytes bytes : saved_[block]) {
      if (bytes.value > 0) present.push_back(bytes);
    }
    return median(std::move(present));
  }

 private:
  struct Storage {
    Bytes bytes;
    BlockId block;
    std::size_t step;
  };

  // An operator's outputs are also those of the operators inside it.
  void make(const TensorUse& output, const Context& context, std::optional<std::size_t> step) {
    const auto found = made_.find(output.storage);
    if (context.phase != Phase::forward || !context.block || !step) {
      if (found != made_.end()) made_.erase(found);
      return;
    }
    const bool again =
        found != made_.end() && found->second.block == *context.block && found->second.step == *step;
    const Bytes bytes = again ? std::max(found->second.bytes, output.bytes) : output.bytes;
    made_[output.storage] = {bytes, *context.block, *step};
  }

  void save(std::uint64_t storage) {
    const auto found = made_.find(storage);
    if (found == made_.end()) return;
    saved_[found->second.block][found->second.step] += found->second.bytes;
    made_.erase(found);
  }

  std::vector<std::vector<Bytes>> saved_;
  std::unordered_map<std::uint64_t, Storage> made_;
};

}  // namespace

ImportReport import_execution_trace(ByteWindow& window, const ImportOptions& options) {
  ImportReport report;
  report.format = RecordingFormat::execution_trace;
  const ExecutionNodes nodes = read_execution_nodes(window, report.repairs);
  const KinetoTrace trace = as_host_trace(nodes);
  report.events = trace.events;
  const HostOrder order(trace);
  const Blocks blocks = find_blocks(trace, order, options.blocks);
  const std::vector<StepWindow> steps = find_steps(trace, blocks);
  const Contexts contexts(trace, order, blocks);
  SavedStorages saved(blocks.names.size(), steps.size());
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    const HostSpan& span = trace.host[i];
    saved.add(nodes.nodes[i], contexts.at({span.thread, span.begin}), step_at(steps, span.begin));
  }
  report.found.how = blocks.how;
  for (BlockId id = 0; id < blocks.names.size(); ++id) {
    ImportedBlock block;
    block.name = blocks.names[id].name;
    block.group = blocks.names[id].group;
    block.bytes.saved = saved.of(id);
    report.found.blocks.push_back(std::move(block));
  }
  report.steps.assign(steps.size(), {});
  report.notes.push_back("an execution trace has no times");
  return report;
}

}  // namespace stowage
