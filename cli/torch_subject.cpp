#include "cli/torch_subject.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/inputs.h"
#include "cli/torch_shipped.h"
#include "profiler/host_machine.h"
#include "traces/error.h"

namespace stowage {
namespace {

void check_device(const std::string& text) {
  if (text == "cuda") throw InputError("--device", "", "this build has no CUDA device; expected host");
  if (text != "host") throw InputError("--device", "", "expected host or cuda, not \"" + text + "\"");
}

}  // namespace

void SubjectFlags::declare(CLI::App& app, bool data_required) {
  app.add_option("--model", model_, "A byte transformer's sizes (12 layers 192 wide)")->type_name("FILE");
  CLI::Option* data = app.add_option("--data", data_, "Text to train on, any file")->type_name("FILE");
  if (data_required) data->required();
  add_count(app, "--seed", seed_, 0, std::numeric_limits<std::int64_t>::max(),
            "Of parameters, batches and dropout (1)");
  app.add_option_function<std::string>("--device", check_device, "Where tensors live (host)")
      ->type_name("host|cuda");
}

Subject SubjectFlags::read() const {
  Subject subject;
  if (!model_.empty()) subject.config = read_transformer(model_);
  subject.data = data_.empty() ? shipped_text() : data_;
  subject.seed = static_cast<std::uint64_t>(seed_);
  Corpus(subject.data, subject.shape());  // refuses wrong data before long work begins
  return subject;
}

Machine machine_or_host(const std::string& file) {
  if (!file.empty()) return read_machine(file);
  Machine machine = host_machine({});
  machine.device.memory = machine.host.memory;
  return machine;
}

}  // namespace stowage
