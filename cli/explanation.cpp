#include "cli/explanation.h"

#include <algorithm>

#include "traces/timeline_names.h"

namespace stowage {
namespace {

// In the order of BufferKind.
constexpr std::array<const char*, buffer_kind_count> kind_words = {
    "outside the blocks", "optimizer states",        "weights",
    "inputs of blocks",   "their gradients",         "tensors saved for backward",
    "workspace",          "gradients of parameters", "checkpoint"};

// In the order of StallCause.
constexpr std::array<const char*, stall_cause_count> cause_words = {
    "for activations on their way back",
    "for weights on their way",
    "for a copy to the host that had not ended",
    "for copies after the last compute",
    "beside pageable copies",
    "while host memory was pinned",
    "for the disk"};

Bytes level_at(const std::vector<MemorySample>& curve, Nanos at) {
  Bytes level;
  for (const MemorySample& sample : curve) {
    if (sample.at > at) break;
    level = sample.bytes;
  }
  return level;
}

std::string compute_step_at(const Predicted& predicted, Nanos at) {
  for (const Span& span : predicted.timeline.spans)
    if (span.lane == Lane::compute && span.begin <= at && at < span.end) {
      Step step{};
      step.kind = span.kind;
      step.block = span.block;
      return title_of(step);
    }
  return {};
}

}  // namespace

PeakMoment peak_moment(const Predicted& predicted) {
  const std::vector<MemorySample>& device = predicted.timeline.memory.device;
  const auto highest =
      std::max_element(device.begin(), device.end(),
                       [](const MemorySample& a, const MemorySample& b) { return a.bytes < b.bytes; });
  if (highest == device.end()) return {};
  PeakMoment moment{highest->bytes, compute_step_at(predicted, highest->at), {}};
  const std::optional<Composition> kinds =
      composition(predicted.program, predicted.timeline, predicted.machine.host.pinned_rounding);
  if (!kinds) return moment;
  for (const KindCurve& curve : kinds->device)
    if (const Bytes bytes = level_at(curve.samples, highest->at); bytes > Bytes{})
      moment.parts.push_back({curve.kind, bytes});
  std::stable_sort(moment.parts.begin(), moment.parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return moment;
}

std::vector<Wait> waiting(const Timeline& timeline) {
  std::vector<Wait> all;
  for (const Stall& stall : timeline.stalls) {
    auto found =
        std::find_if(all.begin(), all.end(), [&](const Wait& each) { return each.cause == stall.cause; });
    if (found == all.end()) found = all.insert(all.end(), {stall.cause, {}, {}, {}});
    const Nanos length = stall.end - stall.begin;
    found->time += length;
    if (length <= found->longest) continue;
    found->longest = length;
    found->block = stall.block;
  }
  std::stable_sort(all.begin(), all.end(), [](const Wait& a, const Wait& b) { return a.time > b.time; });
  return all;
}

const char* words_of(BufferKind kind) {
  return kind_words[static_cast<std::size_t>(kind)];
}
const char* words_of(StallCause cause) {
  return cause_words[static_cast<std::size_t>(cause)];
}

}  // namespace stowage
