// How a training that ran out of memory is told.
#pragma once

#include <string>

#include "cli/torch_training.h"
#include "traces/json.h"

namespace stowage {

// "out of device memory at the backward of block 3: ..."
std::string shortage_words(const TrainingShortage& shortage, const Program& program);

// `outcome`, and of memory that ran out the space, step, and bytes needed and free.
void write_training_outcome(JsonWriter& json, const Training& training, const Program& program);

}  // namespace stowage
