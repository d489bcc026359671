#include "cli/torch_measuring.h"

#include <ATen/Context.h>

#include "cli/output.h"
#include "profiler/block_probe.h"
#include "runtime/models/transformer.h"

namespace stowage {

Assembled measure_profile(const Subject& subject, ChosenDevice& device, std::int64_t repeats) {
  device.set_budget(std::nullopt);
  at::manual_seed(subject.seed);
  Transformer model(subject.config, subject.seed, device.place());
  const State batch = device.bring(Corpus(subject.data, subject.shape()).batch(subject.seed, 0));
  ProgressLine line;
  ProbeOptions options;
  options.repeats = repeats;
  options.on_step = [&](std::int64_t done, std::int64_t all) { line.show("measuring", done, all, "steps"); };
  return probe_blocks({name_of(subject.config), model, batch}, device, options);
}

Machine measure_links(Machine machine, ChosenDevice& device) {
  ProgressLine line;
  line.show("measuring: links");
  machine.host.pinned_limit =
      device.probe_pinned_limit(machine.host.memory).value_or(machine.host.pinned_limit);
  const Rate pageable = machine.links.pageable;  // which nothing measures
  machine.links = probe_links(device, {}).links();
  machine.links.pageable = pageable;
  return machine;
}

}  // namespace stowage
