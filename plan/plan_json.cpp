#include "plan/names.h"
#include "plan/plan.h"
#include "plan/settings_json.h"
#include "traces/file.h"
#include "traces/json.h"

namespace stowage {
namespace {

constexpr std::int64_t version = 1;

// A storage is called by the name of its first tensor where that is unique in the block, else by its number.
std::optional<std::string> name_of_storage(const BlockProfile& block, const std::vector<SavedStorage>& all,
                                           std::uint32_t index) {
  const std::string& name = block.saved[all[index].tensors.front()].name;
  int bearers = 0;
  for (const SavedStorage& storage : all) bearers += block.saved[storage.tensors.front()].name == name;
  return bearers == 1 ? std::optional(name) : std::nullopt;
}

std::uint32_t read_storage(const JsonNode& node, const BlockProfile& block,
                           const std::vector<SavedStorage>& all) {
  if (!node.is_string())
    return static_cast<std::uint32_t>(node.integer(0, static_cast<std::int64_t>(all.size()) - 1));
  const std::string name = node.string();
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (name_of_storage(block, all, i) == name) return i;
  node.refuse("a saved tensor of block \"" + block.name + "\", not \"" + name + "\"");
}

BlockDecision read_decision(const JsonNode& node, const BlockProfile& block) {
  node.allow({"activation", "scope", "segment", "offload", "offload_input", "weights", "kept_layers"});
  BlockDecision decision;
  decision.activation = static_cast<Activation>(node.at("activation").choice(activation_names));
  if (const auto scope = node.find_value("scope"))
    decision.scope = static_cast<Scope>(scope->choice(scope_names));
  if (const auto segment = node.find_value("segment"))
    decision.segment = static_cast<std::uint32_t>(segment->integer(0, UINT32_MAX));
  if (const auto offload = node.find("offload")) {
    const std::vector<SavedStorage> all = storages(block);
    for (const JsonNode& item : offload->items()) decision.offload.push_back(read_storage(item, block, all));
  }
  if (const auto input = node.find("offload_input")) decision.offload_input = input->boolean();
  if (const auto weights = node.find("weights"))
    decision.weights = static_cast<Residence>(weights->choice(residence_names));
  if (const auto kept = node.find("kept_layers"))
    decision.kept_layers = static_cast<std::uint32_t>(kept->integer(0, UINT32_MAX));
  return decision;
}

void write_decision(JsonWriter& json, const BlockDecision& decision, const BlockProfile& block) {
  json.begin_object().field("activation", name_in(activation_names, decision.activation));
  if (decision.scope) json.field("scope", name_in(scope_names, *decision.scope));
  json.key("segment");
  decision.segment ? json.value(*decision.segment) : json.null();
  json.key("offload").begin_array();
  const std::vector<SavedStorage> all = storages(block);
  for (std::uint32_t index : decision.offload) {
    const auto name = name_of_storage(block, all, index);
    name ? json.value(*name) : json.value(index);
  }
  json.end_array();
  if (decision.offload_input) json.field("offload_input", true);
  json.field("weights", name_in(residence_names, decision.weights));
  if (decision.kept_layers > 0) json.field("kept_layers", decision.kept_layers);
  json.end_object();
}

Prediction read_prediction(const JsonNode& node) {
  node.allow({"step_ns", "compute_ns", "stall_ns", "peak_bytes", "host_activation_peak_bytes",
              "host_pinned_peak_bytes"});
  return {node.at("step_ns").nanos(),
          node.at("compute_ns").nanos(),
          node.at("stall_ns").nanos(),
          node.at("peak_bytes").bytes(),
          node.at("host_activation_peak_bytes").bytes(),
          node.at("host_pinned_peak_bytes").bytes()};
}

void write_prediction(JsonWriter& json, const Prediction& predicted) {
  json.begin_object()
      .field("step_ns", predicted.step)
      .field("compute_ns", predicted.compute)
      .field("stall_ns", predicted.stall)
      .field("peak_bytes", predicted.device_peak)
      .field("host_activation_peak_bytes", predicted.host_activation_peak)
      .field("host_pinned_peak_bytes", predicted.host_pinned_peak)
      .end_object();
}

std::vector<BlockDecision> read_decisions(const JsonNode& node, const std::vector<BlockProfile>& blocks) {
  const std::vector<JsonNode> items = node.items();
  if (items.size() != blocks.size())
    node.refuse(std::to_string(blocks.size()) + " blocks as in the profile, not " +
                std::to_string(items.size()));
  std::vector<BlockDecision> decisions;
  for (std::size_t i = 0; i < items.size(); ++i) decisions.push_back(read_decision(items[i], blocks[i]));
  return decisions;
}

Plan read(const JsonNode& root, const Profile& profile) {
  root.expect_format("stowage.plan", version);
  root.allow(
      {"format", "version", "subject", "settings", "transfer", "step", "blocks", "predicted", "bound"});
  Plan plan;
  const JsonNode subject = root.at("subject");
  subject.allow({"profile", "digest"});
  plan.subject = {subject.at("profile").string(), subject.at("digest").string()};
  const BlockTable table(profile);
  if (plan.subject.digest != table.digest)
    subject.refuse("a plan for profile \"" + table.profile_name + "\" (" + table.digest +
                   "), not for another: \"" + plan.subject.profile + "\" (" + plan.subject.digest + ")");
  if (const JsonNode settings = root.at("settings"); !settings.is_null())
    plan.settings = read_settings(settings);
  if (const auto transfer = root.find("transfer"))
    plan.transfer = read_transfer(*transfer);
  else if (plan.settings)
    plan.transfer = plan.settings->transfer;
  if (const auto step = root.find("step"))
    plan.step = read_step(*step);
  else if (plan.settings)
    plan.step = plan.settings->step;
  plan.blocks = read_decisions(root.at("blocks"), profile.expanded());
  if (const auto predicted = root.find_value("predicted")) plan.predicted = read_prediction(*predicted);
  if (const auto bound = root.find_value("bound")) {
    bound->allow({"step_ns"});
    plan.bound = bound->at("step_ns").nanos();
  }
  check(plan, table);
  return plan;
}

}  // namespace

Plan parse_plan(const std::string& text, const Profile& profile) {
  return read(JsonNode::parse(text), profile);
}

Plan read_plan(const std::string& file, const Profile& profile) {
  return parse_file(file, [&](const std::string& text) { return parse_plan(text, profile); });
}

std::string to_json(const Plan& plan, const Profile& profile) {
  JsonWriter json;
  json.begin_object().field("format", "stowage.plan").field("version", version).key("subject");
  json.begin_object()
      .field("profile", plan.subject.profile)
      .field("digest", plan.subject.digest)
      .end_object();
  json.key("settings");
  plan.settings ? write_settings(json, *plan.settings) : static_cast<void>(json.null());
  json.key("transfer");
  write_transfer(json, plan.transfer);
  json.key("step");
  write_step(json, plan.step);
  json.key("blocks").begin_array();
  const std::vector<BlockProfile> blocks = profile.expanded();
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) write_decision(json, plan.blocks[i], blocks[i]);
  json.end_array().key("predicted");
  plan.predicted ? write_prediction(json, *plan.predicted) : static_cast<void>(json.null());
  json.key("bound");
  if (plan.bound)
    json.begin_object().field("step_ns", *plan.bound).end_object();
  else
    json.null();
  return json.end_object().text();
}

}  // namespace stowage
