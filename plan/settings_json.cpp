#include "plan/settings_json.h"

#include "plan/names.h"
#include "traces/error.h"

namespace stowage {
namespace {

template <class Enumeration>
void read_choice(const JsonNode& node, std::string_view key, std::span<const std::string_view> names,
                 Enumeration& into) {
  if (const auto found = node.find(key)) into = static_cast<Enumeration>(found->choice(names));
}

void read_integer(const JsonNode& node, std::string_view key, std::int64_t least, std::int64_t& into) {
  if (const auto found = node.find(key)) into = found->integer(least);
}

void read_transfer_keys(const JsonNode& node, TransferSettings& transfer) {
  read_integer(node, "prefetch", 0, transfer.prefetch);
  read_integer(node, "h2d_streams", 1, transfer.h2d_streams);
  read_integer(node, "d2h_streams", 1, transfer.d2h_streams);
  if (const auto buckets = node.find_value("max_buckets")) transfer.max_buckets = buckets->integer(0);
  if (const auto most = node.find_value("pinned_max_bytes")) transfer.pinned_max = most->bytes();
  if (const auto over = node.find_value("disk_over_bytes")) transfer.disk_over = over->bytes();
}

void read_step_keys(const JsonNode& node, StepSettings& step) {
  read_integer(node, "accumulate", 1, step.accumulate);
  read_choice(node, "optimizer", optimizer_names, step.optimizer);
}

void write_step_keys(JsonWriter& json, const StepSettings& step) {
  json.field("accumulate", step.accumulate).field("optimizer", name_in(optimizer_names, step.optimizer));
}

void write_transfer_keys(JsonWriter& json, const TransferSettings& transfer) {
  json.field("prefetch", transfer.prefetch)
      .field("h2d_streams", transfer.h2d_streams)
      .field("d2h_streams", transfer.d2h_streams);
  json.key("max_buckets");
  transfer.max_buckets ? json.value(*transfer.max_buckets) : json.null();
  json.key("pinned_max_bytes");
  transfer.pinned_max ? json.value(*transfer.pinned_max) : json.null();
  if (transfer.disk_over) json.field("disk_over_bytes", *transfer.disk_over);
}

}  // namespace

Settings read_settings(const JsonNode& node) {
  node.allow({"policy", "interval", "stride", "segmenting", "scope", "swap_blocks", "swap_which", "swap_mode",
              "swap_keep", "swap_keep_max_bytes", "prefetch", "h2d_streams", "d2h_streams", "max_buckets",
              "pinned_max_bytes", "accumulate", "optimizer", "disk_over_bytes"});
  Settings settings;
  read_choice(node, "policy", policy_names, settings.policy);
  read_integer(node, "interval", 1, settings.interval);
  if (const auto stride = node.find_value("stride")) settings.stride = stride->integer(1);
  read_choice(node, "segmenting", segmenting_names, settings.segmenting);
  if (const auto scope = node.find_value("scope"))
    settings.scope = static_cast<Scope>(scope->choice(scope_names));
  read_integer(node, "swap_blocks", 0, settings.swap.blocks);
  read_choice(node, "swap_which", swap_which_names, settings.swap.which);
  read_choice(node, "swap_mode", swap_mode_names, settings.swap.mode);
  read_integer(node, "swap_keep", 0, settings.swap.keep);
  if (const auto most = node.find_value("swap_keep_max_bytes")) settings.swap.keep_max = most->bytes();
  read_transfer_keys(node, settings.transfer);
  read_step_keys(node, settings.step);
  try {
    check(settings);
  } catch (const InputError& error) {
    throw InputError("", node.path() + "." + error.path(), error.reason());
  }
  return settings;
}

TransferSettings read_transfer(const JsonNode& node) {
  node.allow(
      {"prefetch", "h2d_streams", "d2h_streams", "max_buckets", "pinned_max_bytes", "disk_over_bytes"});
  TransferSettings transfer;
  read_transfer_keys(node, transfer);
  return transfer;
}

StepSettings read_step(const JsonNode& node) {
  node.allow({"accumulate", "optimizer"});
  StepSettings step;
  read_step_keys(node, step);
  return step;
}

void write_settings(JsonWriter& json, const Settings& settings) {
  json.begin_object()
      .field("policy", name_in(policy_names, settings.policy))
      .field("interval", settings.interval)
      .key("stride");
  settings.stride ? json.value(*settings.stride) : json.null();
  json.field("segmenting", name_in(segmenting_names, settings.segmenting)).key("scope");
  settings.scope ? json.value(name_in(scope_names, *settings.scope)) : json.null();
  json.field("swap_blocks", settings.swap.blocks)
      .field("swap_which", name_in(swap_which_names, settings.swap.which))
      .field("swap_mode", name_in(swap_mode_names, settings.swap.mode))
      .field("swap_keep", settings.swap.keep);
  if (settings.swap.keep_max) json.field("swap_keep_max_bytes", *settings.swap.keep_max);
  write_transfer_keys(json, settings.transfer);
  write_step_keys(json, settings.step);
  json.end_object();
}

void write_transfer(JsonWriter& json, const TransferSettings& transfer) {
  json.begin_object();
  write_transfer_keys(json, transfer);
  json.end_object();
}

void write_step(JsonWriter& json, const StepSettings& step) {
  json.begin_object();
  write_step_keys(json, step);
  json.end_object();
}

}  // namespace stowage
