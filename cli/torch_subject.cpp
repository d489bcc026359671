#include "cli/torch_subject.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/inputs.h"
#include "cli/torch_shipped.h"

namespace stowage {
void SubjectFlags::declare(CLI::App& app, bool data_required) {
  app.add_option("--model", model_, "A byte transformer's sizes (12 layers 192 wide)")->type_name("FILE");
  CLI::Option* data = app.add_option("--data", data_, "Text to train on, any file")->type_name("FILE");
  if (data_required) data->required();
  add_count(app, "--seed", seed_, 0, std::numeric_limits<std::int64_t>::max(),
            "Of parameters, batches and dropout (1)");
  app.add_option_function<std::string>(
         "--device", [this](const std::string& text) { place_ = place_named(text); },
         "Where tensors live (host)")
      ->type_name("host|cuda");
}

Subject SubjectFlags::read() const {
  Subject subject;
  if (!model_.empty()) subject.config = read_transformer(model_);
  subject.data = data_.empty() ? shipped_text() : data_;
  subject.seed = static_cast<std::uint64_t>(seed_);
  subject.place = place_;
  Corpus(subject.data, subject.shape());  // refuses wrong data before long work begins
  return subject;
}

Machine machine_for(const std::string& file, Place place) {
  return file.empty() ? machine_at(place) : read_machine(file);
}

}  // namespace stowage
