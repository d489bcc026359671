#include "traces/import/import_profile.h"

#include <algorithm>

#include "traces/import/json_text.h"
#include "traces/import/medians.h"
#include "traces/import/profile_times.h"

namespace stowage {
namespace {

constexpr Bytes at_least_none(Bytes bytes) {
  return std::max(bytes, Bytes{});
}

// The middle of one figure over the steps.
template <class Figure>
Nanos over_steps(const ImportReport& report, Figure figure) {
  std::vector<Nanos> values;
  if (report.time) {
    for (const StepWork& step : report.time->steps) values.push_back(figure(step));
  }
  return median(std::move(values));
}

// Half of the range that holds nine of ten passes.
Nanos spread(const std::vector<BlockWork>& passes, Nanos BlockWork::*part) {
  std::vector<Nanos> values;
  for (const BlockWork& pass : passes) {
    if (pass.ran) values.push_back(pass.*part);
  }
  if (values.size() < 2) return {};
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 20;
  return {(values[values.size() - 1 - tail] - values[tail]).value / 2};
}

BlockProfile block_profile(const ImportedBlock& block, Bytes input, Bytes input_gradient, bool grouped) {
  BlockProfile profile;
  profile.name = well_formed(block.name);
  if (grouped) profile.group = well_formed(block.group);
  profile.times.forward = block.forward;
  profile.times.backward = block.backward;
  profile.times.forward_spread = spread(block.passes, &BlockWork::forward);
  profile.times.backward_spread = spread(block.passes, &BlockWork::backward);
  profile.sizes.input = input;
  profile.sizes.gradient = at_least_none(block.bytes.gradient);
  profile.sizes.forward_workspace = at_least_none(block.bytes.forward_workspace);
  // While the backward runs the block's gradients and the gradient of its input are there as well.
  profile.sizes.backward_workspace =
      at_least_none(block.bytes.backward_rise - profile.sizes.gradient - input_gradient);
  const Bytes saved = at_least_none(block.bytes.saved - block.bytes.output);
  if (saved.value > 0)
    profile.saved.push_back(
        {.name = "saved", .bytes = saved, .scope = Scope::other, .layout = {}, .storage = {}});
  return profile;
}

// What is there when the first block begins but its input, in the middle of the steps; without blocks or
// steps, what is there in the end.
Bytes resident(const ImportReport& report, Bytes input) {
  if (!report.memory) return {};
  std::vector<Bytes> levels;
  for (const ImportedStep& step : report.steps) {
    if (step.before_blocks) levels.push_back(*step.before_blocks - input);
  }
  return at_least_none(levels.empty() ? report.memory->account.end : median(std::move(levels)));
}

// Beside the gradient of the output, in the middle of the steps. Where the recording does not tell when the
// loss is computed, what the peak holds beyond the blocks and what they start from; a peak at which the
// blocks hold little is none of the loss.
Bytes epilogue_bytes(const ImportReport& report, const Profile& profile) {
  if (!report.memory || report.found.blocks.empty()) return {};
  std::vector<Bytes> rises;
  for (const ImportedStep& step : report.steps) {
    if (step.loss_rise) rises.push_back(*step.loss_rise - profile.fixed.output);
  }
  if (!rises.empty()) return at_least_none(median(std::move(rises)));
  const std::vector<ImportedBlock>& blocks = report.found.blocks;
  const bool again = std::any_of(blocks.begin(), blocks.end(),
                                 [](const ImportedBlock& block) { return block.segment.has_value(); });
  if (again || !peaks_with_blocks(report)) return {};
  Bytes level = profile.fixed.resident + profile.blocks.front().sizes.input + profile.fixed.output;
  for (const ImportedBlock& block : blocks) level += block.bytes.saved;
  return at_least_none(report.memory->account.peak - level);
}

// By the blocks as they were run: of those that ran again together only while they do, beside their outputs.
Bytes most_held(const std::vector<ImportedBlock>& blocks) {
  Bytes kept, again, most_again;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool continues = i > 0 && blocks[i].segment && blocks[i - 1].segment == blocks[i].segment;
    if (!continues) again = Bytes{};
    if (blocks[i].segment) again += blocks[i].bytes.saved;
    most_again = std::max(most_again, again);
    if (!blocks[i].segment) kept += blocks[i].bytes.saved;
    if (blocks[i].segment && !continues) kept += blocks[i].bytes.output;
  }
  return kept + most_again;
}

// Without work that was timed, the length of a step.
BlockProfile whole_model(const ImportReport& report) {
  BlockProfile model;
  model.name = "model";
  if (report.memory)
    model.sizes.forward_workspace = at_least_none(report.memory->account.peak - resident(report, {}));
  if (!report.time) {
    std::vector<Nanos> lengths;
    for (const ImportedStep& step : report.steps) lengths.push_back(step.end - step.begin);
    model.times.forward = median(std::move(lengths));
    return model;
  }
  model.times.forward =
      over_steps(report, [](const StepWork& step) { return step.prologue + step.epilogue; });
  model.times.backward = over_steps(report, [](const StepWork& step) { return step.backward; });
  return model;
}

}  // namespace

bool peaks_with_blocks(const ImportReport& report) {
  if (!report.memory) return false;
  Bytes held;
  for (const Bytes bytes : report.memory->account.owners) held += bytes;
  return held.value >= most_held(report.found.blocks).value / 2;
}

Profile profile_of(const ImportReport& report, const std::string& name) {
  Profile profile;
  profile.name = well_formed(name);
  const std::vector<ImportedBlock>& blocks = report.found.blocks;
  const bool grouped = std::any_of(blocks.begin(), blocks.end(), [&](const ImportedBlock& block) {
    return block.group != blocks.front().group;
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Bytes input = at_least_none(blocks[i == 0 ? 0 : i - 1].bytes.output);
    const Bytes input_gradient = i == 0 ? Bytes{} : input;  // a plan has none before the first block
    profile.blocks.push_back(block_profile(blocks[i], input, input_gradient, grouped));
  }
  if (report.format == RecordingFormat::memory_snapshot) even_times(profile);
  profile.fixed.optimizer = over_steps(report, [](const StepWork& step) { return step.optimizer; });
  profile.fixed.resident =
      resident(report, profile.blocks.empty() ? Bytes{} : profile.blocks.front().sizes.input);
  if (blocks.empty()) {
    profile.blocks.push_back(whole_model(report));
  } else {
    profile.fixed.prologue = over_steps(report, [](const StepWork& step) { return step.prologue; });
    profile.fixed.epilogue =
        over_steps(report, [](const StepWork& step) { return step.epilogue + step.backward; });
    profile.fixed.output = at_least_none(blocks.back().bytes.output);
  }
  profile.fixed.epilogue_bytes = epilogue_bytes(report, profile);
  // What takes no time holds no memory.
  if (profile.fixed.epilogue_bytes.value > 0)
    profile.fixed.epilogue = std::max(profile.fixed.epilogue, Nanos{1});
  return profile;
}

}  // namespace stowage
