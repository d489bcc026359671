#include "python/answers.h"

#include "cli/free_tuning.h"
#include "cli/inputs.h"
#include "cli/prediction.h"
#include "cli/tuning.h"
#include "cli/tuning_json.h"
#include "plan/names.h"
#include "plan/settings_json.h"
#include "traces/export/chrome.h"
#include "traces/export/csv.h"
#include "traces/json.h"

namespace stowage {
namespace {

Profile profile_in(const std::string& text) {
  return blaming("profile", [&] { return parse_profile(text); });
}

Machine machine_in(const std::string& text) {
  return blaming("machine", [&] { return parse_machine(text); });
}

Plan plan_in(const std::string& text, const Profile& profile) {
  return blaming("plan", [&] { return parse_plan(text, profile); });
}

std::vector<Timeline> timelines_in(const std::vector<std::string>& texts) {
  std::vector<Timeline> timelines;
  for (const std::string& text : texts)
    timelines.push_back(blaming("timeline", [&] { return parse_timeline(text); }));
  return timelines;
}

void write_plan(JsonWriter& json, const Plan& plan, const Profile& profile, const BlockTable& table) {
  json.key("plan").raw(to_json(plan, profile)).field("summary", summary(table, plan));
}

template <class T>
void write_optional(JsonWriter& json, const char* key, const std::optional<T>& value) {
  json.key(key);
  value ? json.value(*value) : json.null();
}

void write_uses_end(JsonWriter& json, const Program& program, StepId id) {
  json.key("uses_end").begin_array();
  for (const MemoryEffect& effect : program.effects_at(id, Edge::end)) {
    const Buffer& buffer = program.buffers[effect.buffer];
    if (!effect.alloc && buffer.kind == BufferKind::weights && buffer.space == Space::device)
      json.value(*buffer.block);
  }
  json.end_array();
}

void write_step(JsonWriter& json, const Program& program, StepId id) {
  const Step& step = program.steps[id];
  json.begin_row().field("kind", name_of(step.kind)).field("lane", name_of(step.lane));
  write_optional(json, "block", step.block);
  write_optional(json, "storage", step.storage);
  json.field("bytes", step.bytes);
  if (step.is_copy())
    json.key("issue")
        .begin_array()
        .value(step.issue.step)
        .value(static_cast<int>(step.issue.edge))
        .end_array();
  json.key("waits").begin_array();
  for (StepId wait : program.waits_of(id)) json.value(wait);
  json.end_array();
  if (!step.is_copy()) write_uses_end(json, program, id);
  json.end_object();
}

}  // namespace

std::string profile_answer(const std::string& text) {
  const Profile profile = profile_in(text);
  JsonWriter json;
  json.begin_object().key("profile").raw(to_json(profile)).field("digest", profile.digest());
  return json.end_object().text();
}

std::string machine_answer(const std::string& text) {
  return to_json(machine_in(text));
}

std::string plan_answer(const std::string& text, const std::string& profile_text) {
  const Profile profile = profile_in(profile_text);
  JsonWriter json;
  json.begin_object();
  write_plan(json, plan_in(text, profile), profile, BlockTable(profile));
  return json.end_object().text();
}

std::string expand_answer(const std::string& text, const std::string& profile_text) {
  const Profile profile = profile_in(profile_text);
  const BlockTable table(profile);
  const Expansion expansion = blaming("settings", [&] {
    const Settings settings = read_settings(JsonNode::parse(text));
    return expand(table, settings);
  });
  JsonWriter json;
  json.begin_object();
  write_plan(json, expansion.plan, profile, table);
  write_texts(json, "warnings", expansion.warnings);
  return json.end_object().text();
}

std::string simulate_answer(const std::string& profile_text, const std::string& plan_text,
                            const std::string& machine_text) {
  const Profile profile = profile_in(profile_text);
  const Machine machine = of_one_rank(machine_in(machine_text));
  const BlockTable table(profile);
  const Plan plan = plan_in(plan_text, profile);
  const Predicted predicted = blaming("profile", [&] { return predict(table, plan, machine); });
  JsonWriter json;
  json.begin_object().field("sentence", sentence(predicted, machine));
  write_verdict(json, predicted);
  write_run(json, predicted.outcome.run);
  json.key("timeline").raw(to_json(predicted.timeline));
  return json.end_object().text();
}

std::string tune_answer(const std::string& profile_text, const std::string& machine_text,
                        const TuneQuestion& question) {
  const Profile profile = profile_in(profile_text);
  MemoryFlags memory;
  if (question.device_bytes) memory.vram = Bytes{*question.device_bytes};
  if (question.host_bytes) memory.host_ram = Bytes{*question.host_bytes};
  const Machine machine = memory.apply(machine_in(machine_text));
  const BlockTable table(profile);
  const auto threads = static_cast<unsigned>(question.threads);
  const Tuning tuning =
      blaming("profile", [&] { return run_tuning(table, machine, Bytes{question.margin}, threads); });
  std::optional<FreeTuning> free;
  if (question.free) free = run_free_tuning(table, machine, tuning, threads);
  JsonWriter json;
  json.begin_object().key("answer").raw(tuning_json(tuning, free, profile));
  json.field("sentence", free ? sentence(table, tuning, *free) : sentence(tuning));
  json.field("certainty", free ? certainty(tuning, *free) : certainty(tuning));
  return json.end_object().text();
}

std::string program_answer(const std::string& plan_text, const std::string& profile_text) {
  const Profile profile = profile_in(profile_text);
  const BlockTable table(profile);
  const Program program = compile(table, plan_in(plan_text, profile));
  JsonWriter json;
  json.begin_object().key("steps").begin_array();
  for (StepId id = 0; id < program.steps.size(); ++id) write_step(json, program, id);
  return json.end_array().end_object().text();
}

std::string chrome_answer(const std::vector<std::string>& timelines) {
  return to_chrome_trace(timelines_in(timelines));
}

std::string csv_answer(const std::vector<std::string>& timelines) {
  return to_csv(timelines_in(timelines));
}

}  // namespace stowage
