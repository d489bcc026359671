// SimpleTuner's options as its three kinds of configuration write them.
#pragma once

#include <string>

#include "tuner/dialects/dialect.h"

namespace stowage {

// Options from a configuration in JSON; keys with and without "--", and what is not about memory is passed
// over. Throws InputError with the key where a value is neither a switch, a whole number nor a word.
Options simpletuner_options(const std::string& config);
// The value of model_family; "" where it is not there.
std::string simpletuner_family_of(const std::string& config);

// The configuration with these options for its own about memory; everything else stays as it is written.
std::string simpletuner_rewritten(const std::string& config, const Options& options);

// One object of nothing but these options.
std::string simpletuner_json(const Options& options);
// "--gradient_checkpointing=true --gradient_checkpointing_interval=2"
std::string simpletuner_flags(const Options& options);
// Lines of config.env. What has no variable of its own goes to TRAINER_EXTRA_ARGS.
std::string simpletuner_env(const Options& options);

}  // namespace stowage
