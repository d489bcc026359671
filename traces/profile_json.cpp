#include <array>

#include "traces/file.h"
#include "traces/json.h"
#include "traces/profile.h"

namespace stowage {
namespace {

constexpr std::int64_t profile_version = 1;
constexpr std::int64_t most_blocks = 1'000'000;
// Sums over a chain stay below this, so that nothing that is added up later can overflow.
constexpr std::int64_t most_in_total = std::int64_t{1} << 60;
constexpr std::array<std::string_view, scope_count> scope_words = {"attention", "ffn", "other"};

// Adds up what a chain needs, and refuses the key at which it becomes too much.
class Total {
 public:
  void add(const JsonNode& node, std::int64_t value, std::int64_t times = 1) {
    if (value > 0 && (times > most_in_total / value || sum_ > most_in_total - value * times))
      node.refuse("a chain whose figures add up to at most 2^60");
    sum_ += value * times;
  }

 private:
  std::int64_t sum_ = 0;
};

struct Totals {
  Total bytes, nanos;
};

template <class Quantity>
Quantity figure(const JsonNode& node, std::string_view key, Total& total, std::int64_t times,
                bool required = false) {
  const auto found = required ? std::optional(node.at(key)) : node.find(key);
  if (!found) return {};
  const std::int64_t value = found->integer(0);
  total.add(*found, value, times);
  return {value};
}

// An object with a figure for some of the scopes.
template <class Quantity>
ByScope<Quantity> figures(const JsonNode& node, std::string_view key, Total& total, std::int64_t times) {
  ByScope<Quantity> all;
  const auto scopes = node.find(key);
  if (!scopes) return all;
  scopes->allow({"attention", "ffn", "other"});
  for (int i = 0; i < scope_count; ++i)
    if (scopes->find(scope_words[i])) all[i] = figure<Quantity>(*scopes, scope_words[i], total, times);
  return all;
}

std::optional<std::vector<std::int64_t>> read_extents(const JsonNode& node, std::string_view key) {
  const auto found = node.find(key);
  if (!found) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const JsonNode& item : found->items()) extents.push_back(item.integer(0));
  return extents;
}

// Absent where the tensor has none of its keys.
std::optional<TensorLayout> read_layout(const JsonNode& node) {
  TensorLayout layout;
  const auto dtype = node.find("dtype");
  if (dtype) layout.dtype = dtype->string();
  layout.shape = read_extents(node, "shape");
  layout.strides = read_extents(node, "strides");
  if (layout.shape && layout.strides && layout.shape->size() != layout.strides->size())
    node.at("strides").refuse("as many strides as the shape has dimensions");
  const auto offset = node.find("storage_offset");
  if (offset) layout.storage_offset = offset->integer(0);
  if (!dtype && !layout.shape && !layout.strides && !offset) return std::nullopt;
  return layout;
}

std::string read_storage(const JsonNode& node) {
  if (node.is_string()) return node.string();
  if (!node.is_integer()) node.refuse("a string or an integer");
  return std::to_string(node.integer(0));
}

SavedTensor read_saved(const JsonNode& node, Totals& totals, std::int64_t count) {
  node.allow({"name", "bytes", "scope", "dtype", "shape", "strides", "storage_offset", "storage", "stays"});
  SavedTensor tensor;
  tensor.name = node.at("name").string();
  tensor.bytes = figure<Bytes>(node, "bytes", totals.bytes, count, true);
  if (const auto scope = node.find("scope")) tensor.scope = static_cast<Scope>(scope->choice(scope_words));
  tensor.layout = read_layout(node);
  if (const auto storage = node.find("storage")) tensor.storage = read_storage(*storage);
  if (const auto stays = node.find("stays")) tensor.stays = stays->boolean();
  return tensor;
}

BlockTimes read_times(const JsonNode& node, Totals& totals, std::int64_t count) {
  BlockTimes times;
  times.forward = figure<Nanos>(node, "forward_ns", totals.nanos, 2 * count, true);  // may run twice
  times.backward = figure<Nanos>(node, "backward_ns", totals.nanos, count, true);
  times.forward_spread = figure<Nanos>(node, "forward_spread_ns", totals.nanos, count);
  times.backward_spread = figure<Nanos>(node, "backward_spread_ns", totals.nanos, count);
  times.scope_forward = figures<Nanos>(node, "scope_forward_ns", totals.nanos, count);
  return times;
}

BlockSizes read_sizes(const JsonNode& node, Totals& totals, std::int64_t count) {
  BlockSizes sizes;
  Total& total = totals.bytes;
  sizes.input = figure<Bytes>(node, "input_bytes", total, 2 * count, true);  // and its gradient
  sizes.weight = figure<Bytes>(node, "weight_bytes", total, 2 * count);  // may be loaded before it has gone
  sizes.gradient = figure<Bytes>(node, "gradient_bytes", total, count);
  sizes.forward_workspace = figure<Bytes>(node, "forward_workspace_bytes", total, count);
  sizes.backward_workspace = figure<Bytes>(node, "backward_workspace_bytes", total, count);
  if (node.find("dropped_workspace_bytes"))
    sizes.dropped_workspace = figure<Bytes>(node, "dropped_workspace_bytes", total, count);
  sizes.scope_input = figures<Bytes>(node, "scope_input_bytes", total, count);
  sizes.scope_dropped_workspace = figures<Bytes>(node, "scope_dropped_workspace_bytes", total, count);
  sizes.scope_workspace = figures<Bytes>(node, "scope_workspace_bytes", total, count);
  sizes.backward_relief = figure<Bytes>(node, "backward_relief_bytes", total, count);
  sizes.handed_on = figure<Bytes>(node, "handed_on_bytes", total, count);
  if (node.find("input_gradient_bytes"))
    sizes.input_gradient = figure<Bytes>(node, "input_gradient_bytes", total, count);
  sizes.handed_on_gradient = figure<Bytes>(node, "handed_on_gradient_bytes", total, count);
  if (node.find("rest_workspace_bytes"))
    sizes.rest_workspace = figure<Bytes>(node, "rest_workspace_bytes", total, count);
  return sizes;
}

Layer read_layer(const JsonNode& node) {
  node.allow({"name", "scope", "weight_bytes", "forward_ns", "backward_ns", "workspace_bytes"});
  Layer layer;
  layer.name = node.at("name").string();
  if (const auto scope = node.find("scope")) layer.scope = static_cast<Scope>(scope->choice(scope_words));
  if (const auto weight = node.find("weight_bytes")) layer.weight = weight->bytes();
  if (const auto forward = node.find("forward_ns")) layer.forward = forward->nanos();
  if (const auto backward = node.find("backward_ns")) layer.backward = backward->nanos();
  if (const auto workspace = node.find("workspace_bytes")) layer.workspace = workspace->bytes();
  return layer;
}

// What is left of a block's figure once its layers have had theirs.
class Rest {
 public:
  Rest(const char* key, std::int64_t of_block) : key_(key), left_(of_block) {}
  void take(const JsonNode& layer, std::int64_t part) {
    if (part > left_) layer.refuse(std::string("layers whose ") + key_ + " adds up to at most the block's");
    left_ -= part;
  }

 private:
  const char* key_;
  std::int64_t left_;
};

void read_layers(const JsonNode& node, BlockProfile& block) {
  Rest weight("weight_bytes", block.sizes.weight.value), forward("forward_ns", block.times.forward.value),
      backward("backward_ns", block.times.backward.value);
  std::vector<Rest> scopes;
  for (const std::optional<Nanos>& scope : block.times.scope_forward)
    scopes.emplace_back("forward_ns of this scope", scope.value_or(block.times.forward).value);
  for (const JsonNode& item : node.items()) {
    const Layer layer = read_layer(item);
    weight.take(item, layer.weight.value);
    forward.take(item, layer.forward.value);
    backward.take(item, layer.backward.value);
    scopes[static_cast<std::size_t>(layer.scope)].take(item, layer.forward.value);
    block.layers.push_back(layer);
  }
}

BlockProfile read_block(const JsonNode& node, std::size_t index, Totals& totals) {
  node.allow({"name",
              "group",
              "count",
              "forward_ns",
              "backward_ns",
              "forward_spread_ns",
              "backward_spread_ns",
              "input_bytes",
              "weight_bytes",
              "gradient_bytes",
              "forward_workspace_bytes",
              "backward_workspace_bytes",
              "dropped_workspace_bytes",
              "saved",
              "scope_forward_ns",
              "scope_input_bytes",
              "scope_dropped_workspace_bytes",
              "scope_workspace_bytes",
              "backward_relief_bytes",
              "handed_on_bytes",
              "input_gradient_bytes",
              "handed_on_gradient_bytes",
              "rest_workspace_bytes",
              "layers"});
  BlockProfile block;
  const auto name = node.find("name");
  block.name = name ? name->string() : "block." + std::to_string(index);
  if (const auto group = node.find_value("group")) block.group = group->string();
  if (const auto count = node.find("count")) block.count = count->integer(1, most_blocks);
  block.times = read_times(node, totals, block.count);
  block.sizes = read_sizes(node, totals, block.count);
  if (const auto saved = node.find("saved"))
    for (const JsonNode& item : saved->items()) block.saved.push_back(read_saved(item, totals, block.count));
  if (const auto layers = node.find("layers")) read_layers(*layers, block);
  return block;
}

FixedCosts read_fixed(const JsonNode& node, Totals& totals) {
  node.allow({"resident_bytes", "optimizer_state_bytes", "output_bytes", "epilogue_bytes", "prologue_ns",
              "epilogue_ns", "optimizer_ns", "host_optimizer_ns"});
  FixedCosts fixed;
  fixed.resident = figure<Bytes>(node, "resident_bytes", totals.bytes, 1);
  fixed.optimizer_state = figure<Bytes>(node, "optimizer_state_bytes", totals.bytes, 1);
  fixed.output = figure<Bytes>(node, "output_bytes", totals.bytes, 2);
  fixed.epilogue_bytes = figure<Bytes>(node, "epilogue_bytes", totals.bytes, 1);
  fixed.prologue = figure<Nanos>(node, "prologue_ns", totals.nanos, 1);
  fixed.epilogue = figure<Nanos>(node, "epilogue_ns", totals.nanos, 1);
  fixed.optimizer = figure<Nanos>(node, "optimizer_ns", totals.nanos, 1);
  if (node.find("host_optimizer_ns"))
    fixed.host_optimizer = figure<Nanos>(node, "host_optimizer_ns", totals.nanos, 1);
  return fixed;
}

// What a block hands on is of both states that it lies between, and so with gradients.
void check_handed_on(const std::vector<JsonNode>& items, const Profile& profile) {
  const auto check = [](const JsonNode& node, const char* key, Bytes handed_on, Bytes before, Bytes after) {
    if (handed_on > before || handed_on > after)
      node.at(key).refuse("at most what enters the block and what leaves it");
  };
  const auto gradient = [](const BlockSizes& of) { return of.input_gradient.value_or(of.input); };
  for (std::size_t i = 0; i < items.size(); ++i) {
    const BlockSizes& own = profile.blocks[i].sizes;
    std::vector<const BlockSizes*> followers;
    if (profile.blocks[i].count > 1) followers.push_back(&own);
    if (i + 1 < items.size()) followers.push_back(&profile.blocks[i + 1].sizes);
    for (const BlockSizes* next : followers) {
      check(items[i], "handed_on_bytes", own.handed_on, own.input, next->input);
      check(items[i], "handed_on_gradient_bytes", own.handed_on_gradient, gradient(own), gradient(*next));
    }
    if (i + 1 < items.size()) continue;
    const Bytes output = profile.fixed.output;
    check(items[i], "handed_on_bytes", own.handed_on, own.input, output);
    check(items[i], "handed_on_gradient_bytes", own.handed_on_gradient, gradient(own), output);
  }
}

PhaseCosts read_phases(const JsonNode& node) {
  node.allow({"checkpoint_bytes", "validation_bytes"});
  PhaseCosts phases;
  if (const auto checkpoint = node.find("checkpoint_bytes")) phases.checkpoint = checkpoint->bytes();
  if (const auto validation = node.find("validation_bytes")) phases.validation = validation->bytes();
  return phases;
}

Profile profile_of(const JsonNode& root) {
  root.expect_format("stowage.profile", profile_version);
  root.allow({"format", "version", "name", "fixed", "blocks", "segments_cross_groups", "phases"});
  Profile profile;
  Totals totals;
  if (const auto name = root.find("name")) profile.name = name->string();
  if (const auto fixed = root.find("fixed")) profile.fixed = read_fixed(*fixed, totals);
  const JsonNode blocks = root.at("blocks");
  const std::vector<JsonNode> items = blocks.items();
  if (items.empty()) blocks.refuse("at least one block");
  std::int64_t expanded = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    profile.blocks.push_back(read_block(items[i], i, totals));
    expanded += profile.blocks.back().count;
    if (expanded > most_blocks) items[i].refuse("at most " + std::to_string(most_blocks) + " blocks in all");
  }
  check_handed_on(items, profile);
  if (const auto cross = root.find("segments_cross_groups")) profile.segments_cross_groups = cross->boolean();
  if (const auto phases = root.find("phases")) profile.phases = read_phases(*phases);
  return profile;
}

void write(JsonWriter& json, const FixedCosts& fixed) {
  json.begin_object()
      .field("resident_bytes", fixed.resident)
      .field("optimizer_state_bytes", fixed.optimizer_state)
      .field("output_bytes", fixed.output)
      .field("epilogue_bytes", fixed.epilogue_bytes)
      .field("prologue_ns", fixed.prologue)
      .field("epilogue_ns", fixed.epilogue)
      .field("optimizer_ns", fixed.optimizer);
  if (fixed.host_optimizer) json.field("host_optimizer_ns", *fixed.host_optimizer);
  json.end_object();
}

void write_extents(JsonWriter& json, std::string_view key,
                   const std::optional<std::vector<std::int64_t>>& extents) {
  if (!extents) return;
  json.key(key).begin_array();
  for (std::int64_t extent : *extents) json.value(extent);
  json.end_array();
}

void write(JsonWriter& json, const TensorLayout& layout) {
  if (layout.dtype) json.field("dtype", *layout.dtype);
  write_extents(json, "shape", layout.shape);
  write_extents(json, "strides", layout.strides);
  json.field("storage_offset", layout.storage_offset);
}

void write(JsonWriter& json, const SavedTensor& tensor) {
  json.begin_row()
      .field("name", tensor.name)
      .field("bytes", tensor.bytes)
      .field("scope", scope_words[static_cast<int>(tensor.scope)]);
  if (tensor.layout) write(json, *tensor.layout);
  if (tensor.storage) json.field("storage", *tensor.storage);
  if (tensor.stays) json.field("stays", true);
  json.end_object();
}

template <class Quantity>
void write(JsonWriter& json, std::string_view key, const ByScope<Quantity>& all) {
  json.key(key).begin_row();
  for (int i = 0; i < scope_count; ++i)
    if (all[i]) json.field(scope_words[i], *all[i]);
  json.end_object();
}

void write(JsonWriter& json, const BlockTimes& times) {
  json.field("forward_ns", times.forward).field("backward_ns", times.backward);
  if (times.forward_spread.value > 0) json.field("forward_spread_ns", times.forward_spread);
  if (times.backward_spread.value > 0) json.field("backward_spread_ns", times.backward_spread);
  write(json, "scope_forward_ns", times.scope_forward);
}

void write(JsonWriter& json, const BlockSizes& sizes) {
  json.field("input_bytes", sizes.input)
      .field("weight_bytes", sizes.weight)
      .field("gradient_bytes", sizes.gradient)
      .field("forward_workspace_bytes", sizes.forward_workspace);
  if (sizes.dropped_workspace) json.field("dropped_workspace_bytes", *sizes.dropped_workspace);
  json.field("backward_workspace_bytes", sizes.backward_workspace);
  const auto by_scope = [&](const char* key, const ByScope<Bytes>& figures) {
    if (figures != ByScope<Bytes>{}) write(json, key, figures);
  };
  by_scope("scope_input_bytes", sizes.scope_input);
  by_scope("scope_dropped_workspace_bytes", sizes.scope_dropped_workspace);
  by_scope("scope_workspace_bytes", sizes.scope_workspace);
  const auto where_any = [&](const char* key, Bytes bytes) {
    if (bytes > Bytes{}) json.field(key, bytes);
  };
  where_any("backward_relief_bytes", sizes.backward_relief);
  where_any("handed_on_bytes", sizes.handed_on);
  if (sizes.input_gradient) json.field("input_gradient_bytes", *sizes.input_gradient);
  where_any("handed_on_gradient_bytes", sizes.handed_on_gradient);
  if (sizes.rest_workspace) json.field("rest_workspace_bytes", *sizes.rest_workspace);
}

void write(JsonWriter& json, const std::vector<Layer>& layers) {
  json.key("layers").begin_array();
  for (const Layer& layer : layers) {
    json.begin_row()
        .field("name", layer.name)
        .field("scope", scope_words[static_cast<int>(layer.scope)])
        .field("weight_bytes", layer.weight)
        .field("forward_ns", layer.forward)
        .field("backward_ns", layer.backward);
    if (layer.workspace) json.field("workspace_bytes", *layer.workspace);
    json.end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const PhaseCosts& phases) {
  json.key("phases").begin_row();
  if (phases.checkpoint) json.field("checkpoint_bytes", *phases.checkpoint);
  json.field("validation_bytes", phases.validation).end_object();
}

void write(JsonWriter& json, const BlockProfile& block) {
  json.begin_object().field("name", block.name);
  if (block.group) json.field("group", *block.group);
  json.field("count", block.count);
  write(json, block.times);
  write(json, block.sizes);
  json.key("saved").begin_array();
  for (const SavedTensor& tensor : block.saved) write(json, tensor);
  json.end_array();
  if (!block.layers.empty()) write(json, block.layers);
  json.end_object();
}

}  // namespace

Profile parse_profile(const std::string& text) {
  return profile_of(JsonNode::parse(text));
}

Profile read_profile(const std::string& file) {
  return parse_file(file, parse_profile);
}

std::string to_json(const Profile& profile) {
  JsonWriter json;
  json.begin_object()
      .field("format", "stowage.profile")
      .field("version", profile_version)
      .field("name", profile.name);
  json.key("fixed");
  write(json, profile.fixed);
  json.key("blocks").begin_array();
  for (const BlockProfile& block : profile.blocks) write(json, block);
  json.end_array();
  if (profile.segments_cross_groups) json.field("segments_cross_groups", true);
  if (profile.phases != PhaseCosts{}) write(json, profile.phases);
  return json.end_object().text();
}

}  // namespace stowage
