// What is trained: a model, text and a seed; and the flags that choose them.
#pragma once

#include <cstdint>
#include <string>

#include "cli/torch_device.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer_config.h"
#include "traces/machine.h"

namespace CLI {
class App;
}

namespace stowage {

struct Subject {
  TransformerConfig config;
  std::string data;
  std::uint64_t seed = 1;
  Place place = Place::host;

  BatchShape shape() const { return {config.batch, config.context}; }
};

// --model, --data, --seed and --device. Without a model it is the default one, without data the text that
// comes with Stowage.
class SubjectFlags {
 public:
  void declare(CLI::App& app, bool data_required);
  // Throws as read_transformer() does, and SystemError where the data cannot be read.
  Subject read() const;

 private:
  std::string model_, data_;
  std::int64_t seed_ = 1;
  Place place_ = Place::host;
};

// The machine in `file`, or where there is none the one that there is.
Machine machine_for(const std::string& file, Place place);

}  // namespace stowage
