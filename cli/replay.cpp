// stowage replay: a recording beside its simulation.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/recording_input.h"
#include "cli/replay_figures.h"
#include "cli/setting_flags.h"
#include "cli/table.h"
#include "traces/import/import_json.h"
#include "traces/import/import_machine.h"
#include "traces/import/import_profile.h"
#include "traces/json.h"

namespace stowage {
namespace {

constexpr Bytes unlimited{std::int64_t{1} << 60};

template <class Unit>
std::string cell(const std::optional<Unit>& figure) {
  return figure ? readable(*figure) : "-";
}

template <class Unit>
std::optional<double> difference(const std::optional<Unit>& recorded, const std::optional<Unit>& simulated) {
  if (!recorded || !simulated || recorded->value == 0) return std::nullopt;
  return static_cast<double>(simulated->value - recorded->value) / static_cast<double>(recorded->value);
}

std::string plan_text(const StepReplay& replay, const ImportReport& report) {
  if (!report.doubts.empty()) return "Not simulated: what was recorded is not understood.\n";
  if (replay.plan.empty())
    return "No blocks were found: the model is simulated as one, with the times and the peak as recorded.\n";
  return "Simulated as recorded: " + replay.plan + ".\n";
}

std::string figures_text(const StepReplay& replay) {
  const StepFigures &recorded = replay.recorded, &simulated = replay.simulated;
  Table table;
  table.row({"", "recorded", "simulated", "difference"});
  bool any = false;
  const auto add = [&](const char* name, const auto& was, const auto& is, bool compare) {
    if (!was) return;
    const std::optional<double> off = compare ? difference(was, is) : std::nullopt;
    table.row({name, cell(was), cell(is), off ? change(*off) : ""});
    any = true;
  };
  add("step", recorded.step, simulated.step, !replay.step_with_waits);
  add("  computing", recorded.compute, simulated.compute, true);
  add("  idle", recorded.stall, simulated.stall, false);
  if (replay.step_with_waits) add("  with the recorded waits", recorded.step, replay.step_with_waits, true);
  if (recorded.copying != Nanos{}) add("copies over the link", recorded.copying, simulated.copying, false);
  add("device peak", recorded.peak, simulated.peak, true);
  if (simulated.reserved) add("reserved, for these requests", recorded.reserved, simulated.reserved, true);
  return any ? table.text() : "";
}

// What a recorded step holds and a simulated one does not.
std::string beyond_text(const StepReplay& replay) {
  Table table;
  table.row({"recorded, a step, but not simulated"});
  const auto add = [&](const char* what, const std::optional<Nanos>& part) {
    if (part && part->value > 0) table.row({what, readable(*part)});
    return part && part->value > 0;
  };
  const bool any = int{add("  waits for the host", replay.recorded.stall)} +
                   add("  collectives", replay.collectives) +
                   add("  work launched before the recording", replay.orphans) +
                   add("  copies over the link", replay.recorded.copying);
  return any ? "\n" + table.text() : "";
}

std::string alternatives_text(const StepReplay& replay) {
  if (replay.alternatives.empty()) return "";
  Table table;
  table.row({"simulated under", "step", "waiting", "device peak", "on the host", ""});
  for (const Alternative& other : replay.alternatives)
    table.row({describe(other.settings), cell(other.step), cell(other.stall), cell(other.peak),
               cell(other.host_activations),
               std::holds_alternative<Ran>(other.verdict) ? "" : "does not fit"});
  return "\n" + table.text();
}

template <class Unit>
void write(JsonWriter& json, const char* key, const std::optional<Unit>& figure) {
  json.key(key);
  figure ? json.value(*figure) : json.null();
}

void write_figures(JsonWriter& json, const char* key, const StepFigures& figures) {
  json.key(key).begin_row();
  write(json, "step_ns", figures.step);
  write(json, "busy_ns", figures.busy);
  write(json, "compute_ns", figures.compute);
  write(json, "stall_ns", figures.stall);
  write(json, "copies_ns", figures.copying);
  write(json, "peak_bytes", figures.peak);
  write(json, "reserved_bytes", figures.reserved);
  json.end_object();
}

void write_difference(JsonWriter& json, const StepFigures& recorded, const StepFigures& simulated) {
  const auto field = [&](const char* key, const std::optional<double>& off) {
    json.key(key);
    off ? json.value(*off) : json.null();
  };
  json.key("difference").begin_row();
  field("step", difference(recorded.step, simulated.step));
  field("busy", difference(recorded.busy, simulated.busy));
  field("compute", difference(recorded.compute, simulated.compute));
  field("peak", difference(recorded.peak, simulated.peak));
  field("reserved", difference(recorded.reserved, simulated.reserved));
  json.end_object();
}

void write_alternative(JsonWriter& json, const Alternative& other) {
  json.begin_row().field("flags", flags_of(other.settings));
  json.field("outcome", std::holds_alternative<Ran>(other.verdict) ? "ran" : "out_of_memory");
  write(json, "step_ns", other.step);
  write(json, "stall_ns", other.stall);
  write(json, "peak_bytes", other.peak);
  write(json, "host_activation_peak_bytes", other.host_activations);
  json.end_object();
}

class ReplayCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"replay", "Set a recording beside its simulation, and try other settings",
            "stowage replay trace.json.gz --vram 24GiB"};
  }

  void declare(CLI::App& app) override {
    recording_.declare(app);
    app.add_option("--machine", machine_, "What other settings would run on, instead of what was recorded")
        ->type_name("FILE");
    memory_.declare(app);
  }

  Answer run(Output& output) override {
    const ImportReport report = recording_.read(output, true);
    const RecordedMachine recorded = machine_of(report);
    const StepReplay found =
        replay_step(report, profile_of(report, recording_.name()), machine_for(recorded));
    output.answer(sentence(report));
    output.say("\n" + plan_text(found, report) + figures_text(found) + beyond_text(found) +
               alternatives_text(found) + unknown_text(found, recorded));
    output.object(json_of(report, found, recorded));
    return stowage::answer(report);
  }

 private:
  ReplayMachine machine_for(const RecordedMachine& recorded) const {
    if (!machine_.empty()) return {memory_.apply(read_machine(machine_)), true};
    Machine machine;
    machine.device.memory = memory_.vram.value_or(recorded.device_memory.value_or(unlimited));
    machine.host.memory = machine.host.pinned_limit = memory_.host_ram.value_or(unlimited);
    if (recorded.links) machine.links = *recorded.links;
    return {machine, recorded.links.has_value()};
  }

  // What stands in for figures that were not recorded; of a machine file it is all said.
  std::vector<std::string> assumptions(const StepReplay& found, const RecordedMachine& recorded) const {
    std::vector<std::string> taken;
    if (found.loss.value > 0)
      taken.push_back("the " + readable(found.loss) + " at the peak that are no block's belong to the loss");
    const bool copies =
        std::any_of(found.alternatives.begin(), found.alternatives.end(),
                    [](const Alternative& other) { return other.settings.policy == Policy::offload; });
    if (machine_.empty() && copies)
      taken.insert(taken.end(), recorded.assumptions.begin(), recorded.assumptions.end());
    return taken;
  }

  std::string unknown_text(const StepReplay& found, const RecordedMachine& recorded) const {
    std::string text;
    for (const std::string& what : found.unknown) text += "  Not known: " + what + ".\n";
    for (const std::string& what : assumptions(found, recorded)) text += "  Taken: " + what + ".\n";
    return text.empty() ? "" : "\n" + text;
  }

  std::string json_of(const ImportReport& report, const StepReplay& found,
                      const RecordedMachine& recorded) const {
    JsonWriter json;
    json.begin_object().field("format", name_of(report.format));
    write_recovered(json, report.repairs);
    json.field("plan", found.plan);
    write_figures(json, "recorded", found.recorded);
    write_figures(json, "simulated", found.simulated);
    write_difference(json, found.recorded, found.simulated);
    write(json, "step_with_waits_ns", found.step_with_waits);
    json.key("not_simulated").begin_row();
    write(json, "idle_ns", found.recorded.stall);
    write(json, "collectives_ns", found.collectives);
    write(json, "orphans_ns", found.orphans);
    write(json, "copies_ns", found.recorded.copying);
    json.end_object().key("settings").begin_array();
    for (const Alternative& other : found.alternatives) write_alternative(json, other);
    json.end_array();
    write_texts(json, "unknown", found.unknown);
    write_texts(json, "assumed", assumptions(found, recorded));
    return json.end_object().text();
  }

  RecordingInput recording_;
  std::string machine_;
  MemoryFlags memory_;
};

}  // namespace

std::unique_ptr<Command> replay_command() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace stowage
