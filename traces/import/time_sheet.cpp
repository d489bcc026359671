#include "traces/import/time_sheet.h"

#include <algorithm>

namespace stowage {
namespace {

class Sheet {
 public:
  Sheet(const Contexts& contexts, const Blocks& blocks, const std::vector<StepWindow>& steps, bool on_device)
      : contexts_(&contexts), steps_(&steps), on_device_(on_device), first_block_(steps.size()) {
    sheet_.blocks.assign(blocks.names.size(), std::vector<BlockWork>(steps.size()));
    sheet_.steps.resize(steps.size());
    sheet_.extents.resize(steps.size());
    for (const Occurrence& occurrence : blocks.forward) {
      const auto step = step_at(steps, occurrence.begin);
      if (!step) continue;
      sheet_.blocks[occurrence.block][*step].ran = true;
      std::optional<Nanos>& first = first_block_[*step];
      if (!first || occurrence.begin < *first) first = occurrence.begin;
    }
  }

  void add(const Work& work) {
    WorkTotals& totals = sheet_.totals;
    const auto step = work.origin ? step_at(*steps_, work.origin->at) : std::nullopt;
    if (step) extend(sheet_.extents[*step], work);
    totals.all += work.duration;
    totals.orphan_count += work.origin ? 0 : 1;
    if (work.kind == WorkKind::collective) {
      totals.collectives += work.duration;
    } else if (!work.origin) {
      totals.orphans += work.duration;
    } else if (work.kind == WorkKind::host_copy) {
      totals.host_copies += work.duration;
    } else {
      place(work, step);
    }
  }

  TimeSheet take() { return std::move(sheet_); }

 private:
  static void extend(std::optional<StepWindow>& window, const Work& work) {
    const Nanos end = work.begin + work.duration;
    if (!window) window = {work.begin, end};
    window->begin = std::min(window->begin, work.begin);
    window->end = std::max(window->end, end);
  }

  void place(const Work& work, std::optional<std::size_t> step) {
    if (on_device_) append(sheet_.own_compute, {work.begin, work.begin + work.duration});
    const Context context = contexts_->at(*work.origin);
    (context.block ? sheet_.totals.blocks : sheet_.totals.rest) += work.duration;
    if (!step) return;
    if (context.block) {
      part_of(sheet_.blocks[*context.block][*step], context.phase) += work.duration;
    } else {
      part_of(sheet_.steps[*step], context.phase,
              first_block_[*step] && work.origin->at < *first_block_[*step]) += work.duration;
    }
  }

  static Nanos& part_of(BlockWork& block, Phase phase) {
    if (phase == Phase::forward) return block.forward;
    return phase == Phase::recompute ? block.recompute : block.backward;
  }

  static Nanos& part_of(StepWork& step, Phase phase, bool before_blocks) {
    if (phase == Phase::optimizer || phase == Phase::accumulate) return step.optimizer;
    if (phase == Phase::backward) return step.backward;
    return before_blocks ? step.prologue : step.epilogue;
  }

  const Contexts* contexts_;
  const std::vector<StepWindow>* steps_;
  const bool on_device_;
  std::vector<std::optional<Nanos>> first_block_;  // when it begins, by step
  TimeSheet sheet_;
};

}  // namespace

double WorkTotals::explained() const {
  return all.value == 0 ? 0.0 : static_cast<double>(blocks.value) / static_cast<double>(all.value);
}

TimeSheet time_sheet(const KinetoTrace& trace, const HostOrder& order, const Contexts& contexts,
                     const Blocks& blocks, const std::vector<StepWindow>& steps) {
  Sheet sheet(contexts, blocks, steps, has_device_work(trace));
  each_work(trace, order, [&](const Work& work) { sheet.add(work); });
  return sheet.take();
}

}  // namespace stowage
