#include "cli/torch_shortage.h"

#include "cli/prediction.h"
#include "cli/quantity.h"

namespace stowage {
namespace {

Bytes free_bytes(const Refusal& refusal) {
  return std::max(Bytes{}, refusal.budget - refusal.live);
}

}  // namespace

std::string shortage_words(const TrainingShortage& shortage, const Program& program) {
  const Refusal& refusal = shortage.refusal;
  const std::string where = shortage.step ? title_of(program.steps[*shortage.step]) : "the start of the step";
  return "out of " + std::string(refusal.space == Space::device ? "device" : "host") + " memory at " + where +
         ", which asked for " + readable(refusal.requested) + " where " + readable(free_bytes(refusal)) +
         " of " + readable(refusal.budget) + " were free";
}

void write_training_outcome(JsonWriter& json, const Training& training, const Program& program) {
  if (!training.shortage) {
    json.field("outcome", "ran");
    return;
  }
  const Refusal& refusal = training.shortage->refusal;
  json.field("outcome", "out_of_memory").field("space", refusal.space == Space::device ? "device" : "host");
  if (training.shortage->step) {
    const Step& step = program.steps[*training.shortage->step];
    json.field("step", name_of(step.kind));
    if (step.block) json.field("block", *step.block);
  }
  json.field("needed_bytes", refusal.requested).field("free_bytes", free_bytes(refusal));
}

}  // namespace stowage
