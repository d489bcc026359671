#include "cli/prediction.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/quantity.h"
#include "simulator/engine.h"
#include "traces/timeline_names.h"

namespace stowage {
namespace {

const char* memory_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::device:
      return "device memory";
    case MemorySpace::host:
      return "host memory";
    case MemorySpace::pinned:
      return "pinned host memory";
    case MemorySpace::disk:
      return "disk space";
  }
  return "";
}

// As the machine file says it.
Bytes memory_in(const Machine& machine, MemorySpace space) {
  switch (space) {
    case MemorySpace::device:
      return machine.device.memory;
    case MemorySpace::host:
      return machine.host.memory;
    case MemorySpace::pinned:
      return machine.host.pinned_limit;
    case MemorySpace::disk:
      return machine.disk ? machine.disk->capacity : Bytes{};
  }
  return {};
}

// What it would have to say. The least that a caching arena does with is not known where it did with what it
// had.
Bytes least_memory(const OutOfMemory& shortage, const Predicted& predicted, MemorySpace space) {
  const Peaks& peaks = predicted.outcome.run.peaks;
  if (space != MemorySpace::device) return peaks.in(space);
  const bool short_of_it = shortage.space == space || shortage.device_needs;
  return (short_of_it ? peaks.device_reserved : peaks.device) + peaks.pinned_on_device +
         predicted.machine.device.reserved;
}

// In the order of StepKind.
constexpr std::array<const char*, 15> step_words = {"prologue",
                                                    "forward",
                                                    "epilogue",
                                                    "recomputation",
                                                    "backward",
                                                    "optimizer step",
                                                    "store of a tensor",
                                                    "restore of a tensor",
                                                    "store of the input",
                                                    "restore of the input",
                                                    "load of the weights",
                                                    "store of the weights",
                                                    "store of the gradients",
                                                    "load of the optimizer states",
                                                    "store of the optimizer states"};

std::string ran_sentence(const Predicted& predicted, const Machine& machine) {
  const Run& run = predicted.outcome.run;
  std::string text = "It fits: a step takes " + readable(run.step) + " and at most " +
                     readable(std::min(run.peaks.on_device(), machine.device.usable())) + " of " +
                     readable(machine.device.usable()) + " on the device";
  if (run.peaks.pinned_on_device > Bytes{})
    text +=
        ", of which " + readable(run.peaks.pinned_on_device) + " for pinned host memory, which counts there";
  text += ".";
  const std::int64_t retries = std::get<Ran>(predicted.outcome.verdict).retries;
  if (retries == 0) return text;
  return text + " The allocator has to give back what it has cached " + std::to_string(retries) +
         (retries == 1 ? " time" : " times") + " a step, which takes time; with " +
         readable(run.peaks.device_reserved) + " it would not.";
}

// Whether an allocator is to blame, and what would cure it.
std::string arena_words(const OutOfMemory& shortage) {
  const ArenaShortage& arena = *shortage.arena;
  if (!shortage.fragmentation())
    return " No allocator would do: " + readable(arena.live) + " are in use, so that " +
           readable(shortage.needed - shortage.free) + " are missing.";
  return " It is fragmentation: only " + readable(arena.live) + " are in use, but they keep " +
         readable(arena.reserved) + " of segments, in which the largest free block has " +
         readable(arena.largest_free) + ". " +
         (arena.expandable_would_do ? "Expandable segments would do, and so would " : "What would do is ") +
         readable(arena.enough) + " of memory.";
}

// Of each memory that the plan passes: "With 217 B of device memory and 80 B of host memory it would fit,
// and". How large a fragmented arena must be has been said.
std::string cure_words(const OutOfMemory& shortage, const Predicted& predicted) {
  if (shortage.arena && shortage.fragmentation()) return " Then";
  std::string text;
  for (MemorySpace space : memory_spaces) {
    const Bytes least = least_memory(shortage, predicted, space);
    if (least <= memory_in(predicted.machine, space)) continue;
    text += (text.empty() ? " With " : " and ") + readable(least) + " of " + memory_of(space);
  }
  return text + " it would fit, and";
}

// Said before anything has been pinned: once pinning has failed a process cannot pin at all.
std::string refusal_words(const OutOfMemory& shortage) {
  const Bytes free = std::max(Bytes{}, shortage.free);
  return "pinned host memory counts against the device here, which needs " +
         readable(*shortage.device_needs) + " itself: of the " + readable(shortage.needed) +
         " that the plan pins " + readable(free) + " are left. At most that may be pinned (--pinned-max " +
         std::to_string(free.value) + ": then activations beyond it are pageable).";
}

std::string shortage_sentence(const OutOfMemory& shortage, const Predicted& predicted) {
  const std::string what = shortage.device_needs
                               ? refusal_words(shortage)
                               : std::string(memory_of(shortage.space)) + " runs out at " +
                                     title_of(predicted.program.steps[shortage.step]) + ", which needs " +
                                     readable(shortage.needed) + " where " +
                                     readable(std::max(Bytes{}, shortage.free)) + " are free.";
  return "It does not fit: " + what + (shortage.arena ? arena_words(shortage) : "") +
         cure_words(shortage, predicted) + " a step would take " + readable(predicted.outcome.run.step) + ".";
}

std::string deadlock_sentence(const Deadlock& deadlock, const Program& program) {
  std::string text = "It would never end:";
  for (const auto& [waiting, awaited] : deadlock.waits)
    text += " " + title_of(program.steps[waiting]) + " waits for " + title_of(program.steps[awaited]) + ";";
  text.back() = '.';
  return text;
}

void write_shortage(JsonWriter& json, const OutOfMemory& shortage, const Predicted& predicted) {
  const Step& step = predicted.program.steps[shortage.step];
  json.field("outcome", "out_of_memory")
      .field("space", name_of(shortage.space))
      .field("step", name_of(step.kind));
  if (step.block) json.field("block", *step.block);
  json.field("at_ns", shortage.at).field("needed_bytes", shortage.needed).field("free_bytes", shortage.free);
  const bool of_device = shortage.space == MemorySpace::device || shortage.device_needs;
  json.field("least_bytes",
             least_memory(shortage, predicted, of_device ? MemorySpace::device : shortage.space));
  if (shortage.device_needs)
    json.field("cause", "counts_on_device").field("device_needs_bytes", *shortage.device_needs);
  if (shortage.space == MemorySpace::device)
    json.field("cause", shortage.fragmentation() ? "fragmentation" : "real");
  if (!shortage.arena) return;
  const ArenaShortage& arena = *shortage.arena;
  json.key("arena").begin_row();
  json.field("live_bytes", arena.live)
      .field("allocated_bytes", arena.allocated)
      .field("reserved_bytes", arena.reserved)
      .field("largest_free_bytes", arena.largest_free)
      .field("enough_bytes", arena.enough)
      .field("expandable_segments_would_do", arena.expandable_would_do)
      .end_object();
}

void write_deadlock(JsonWriter& json, const Deadlock& deadlock, const Program& program) {
  json.field("outcome", "deadlock").key("waits").begin_array();
  for (const auto& [waiting, awaited] : deadlock.waits)
    json.begin_row()
        .field("step", title_of(program.steps[waiting]))
        .field("for", title_of(program.steps[awaited]))
        .end_object();
  json.end_array();
}

}  // namespace

const char* name_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::device:
      return "device";
    case MemorySpace::host:
      return "host";
    case MemorySpace::pinned:
      return "pinned";
    case MemorySpace::disk:
      return "disk";
  }
  return "";
}

Predicted predict(const BlockTable& table, const Plan& plan, const Machine& machine) {
  Predicted predicted;
  predicted.program = compile(table, plan);
  Engine engine(machine);
  PinnedBuckets pool(machine.host.pinned_rounding);
  // Pinning is done in the first step, and a bucket that is asked for twice a step has its place after two.
  const bool settles = predicted.program.pinned.any() || !machine.host.pinning.free();
  for (int before = settles ? 2 : 0; before > 0; --before)
    engine.simulate(predicted.program, pool, predicted.timeline);
  predicted.outcome = engine.simulate(predicted.program, pool, predicted.timeline, predicted.journal);
  predicted.pool = pool.report();
  predicted.timeline.name = predicted.journal.name = table.profile_name;
  predicted.machine = machine;
  return predicted;
}

std::string title_of(const Step& step) {
  std::string text = std::string("the ") + step_words[static_cast<std::size_t>(step.kind)];
  if (step.layer) text += " of layer " + std::to_string(*step.layer);
  if (step.block) text += " of block " + std::to_string(*step.block);
  return text;
}

std::string sentence(const Predicted& predicted, const Machine& machine) {
  if (const auto* shortage = std::get_if<OutOfMemory>(&predicted.outcome.verdict))
    return shortage_sentence(*shortage, predicted);
  if (const auto* deadlock = std::get_if<Deadlock>(&predicted.outcome.verdict))
    return deadlock_sentence(*deadlock, predicted.program);
  return ran_sentence(predicted, machine);
}

void write_verdict(JsonWriter& json, const Predicted& predicted) {
  if (const auto* shortage = std::get_if<OutOfMemory>(&predicted.outcome.verdict))
    write_shortage(json, *shortage, predicted);
  else if (const auto* deadlock = std::get_if<Deadlock>(&predicted.outcome.verdict))
    write_deadlock(json, *deadlock, predicted.program);
  else
    json.field("outcome", "ran").field("retries", std::get<Ran>(predicted.outcome.verdict).retries);
}

void write_run(JsonWriter& json, const Run& run) {
  json.field("step_ns", run.step).field("compute_ns", run.compute).field("stall_ns", run.stall());
  json.key("stalls").begin_row();
  for (std::size_t cause = 0; cause < stall_names.size(); ++cause)
    if (cause != static_cast<std::size_t>(StallCause::disk) || run.stalls[cause] > Nanos{})
      json.field(stall_names[cause], run.stalls[cause]);
  json.end_object()
      .field("peak_bytes", run.peaks.device)
      .field("peak_reserved_bytes", run.peaks.device_reserved)
      .field("host_peak_bytes", run.peaks.host)
      .field("host_activation_peak_bytes", run.peaks.host_activation)
      .field("host_pinned_peak_bytes", run.peaks.host_pinned);
  if (run.peaks.disk > Bytes{}) json.field("disk_peak_bytes", run.peaks.disk);
  if (run.peaks.pinned_on_device > Bytes{}) json.field("pinned_on_device_bytes", run.peaks.pinned_on_device);
}

void write_texts(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

}  // namespace stowage
