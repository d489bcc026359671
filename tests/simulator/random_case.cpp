#include "tests/simulator/random_case.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <vector>

namespace stowage::reference {
namespace {

using Int = std::int64_t;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // Standard distributions differ between libraries; a remainder does not.
  Int between(Int low, Int high) {
    return low + static_cast<Int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(Int n) { return between(1, n) == 1; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[between(0, static_cast<Int>(from.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

// How figures are drawn, one manner for a whole case, so that instants meet in some cases and never in
// others.
struct Manner {
  Int largest;
  Int zero_percent;

  Int draw(Dice& dice) const { return dice.between(1, 100) <= zero_percent ? 0 : dice.between(1, largest); }
};

struct Manners {
  Manner time, size;
};

Manners manners(Dice& dice) {
  const Manner time{dice.pick<Int>({1, 3, 20, 1000, 100'000'000}), dice.pick<Int>({0, 0, 20, 60, 100})};
  const Manner size{dice.pick<Int>({1, 3, 20, 1000, 1'000'000'000}), dice.pick<Int>({0, 0, 5, 20, 60})};
  return {time, size};
}

std::vector<SavedTensor> random_saved(Dice& dice, const Manner& size) {
  std::vector<SavedTensor> saved;
  const bool shares = dice.one_in(3);
  for (Int i = 0, n = dice.between(0, 5); i < n; ++i) {
    SavedTensor tensor;
    tensor.name = "tensor." + std::to_string(i);
    tensor.bytes = {size.draw(dice)};
    tensor.scope = dice.pick({Scope::attention, Scope::ffn, Scope::other});
    if (shares && dice.one_in(2)) tensor.storage = dice.pick({"storage.a", "storage.b"});
    saved.push_back(tensor);
  }
  return saved;
}

BlockProfile random_block(Dice& dice, const Manners& draw) {
  BlockProfile block;
  block.times.forward = {draw.time.draw(dice)};
  block.times.backward = {draw.time.draw(dice)};
  block.sizes.input = {draw.size.draw(dice)};
  block.sizes.weight = {draw.size.draw(dice)};
  block.sizes.gradient = {draw.size.draw(dice)};
  block.sizes.forward_workspace = {draw.size.draw(dice)};
  block.sizes.backward_workspace = {draw.size.draw(dice)};
  if (dice.one_in(6)) block.sizes.dropped_workspace = Bytes{draw.size.draw(dice)};
  block.saved = random_saved(dice, draw.size);
  return block;
}

Profile random_profile(Dice& dice) {
  const Manners draw = manners(dice);
  Profile profile;
  profile.name = "random";
  FixedCosts& fixed = profile.fixed;
  for (Bytes* size : {&fixed.resident, &fixed.optimizer_state, &fixed.output, &fixed.epilogue_bytes})
    *size = {draw.size.draw(dice)};
  for (Nanos* time : {&fixed.prologue, &fixed.epilogue, &fixed.optimizer}) *time = {draw.time.draw(dice)};
  profile.segments_cross_groups = dice.one_in(4);
  const Int entries = dice.one_in(6) ? 1 : dice.between(1, 10);
  const Int groups = dice.pick<Int>({0, 0, 2, 10});
  const bool alike = dice.one_in(3), counted = dice.one_in(3);
  Int group = 0;
  for (Int i = 0; i < entries; ++i) {
    BlockProfile block = alike && i > 0 ? profile.blocks.front() : random_block(dice, draw);
    block.name = "block." + std::to_string(i);
    block.count = counted ? dice.between(1, 4) : 1;
    if (group < groups && dice.one_in(2)) ++group;
    if (group > 0 && dice.one_in(20)) --group;  // back to a group that was left, or to none
    block.group.reset();
    if (group > 0) block.group = "group." + std::to_string(group);
    profile.blocks.push_back(block);
  }
  return profile;
}

// Points near the sizes that occur, so that copies meet, pass and lie between them.
std::vector<CurvePoint> random_curve(Dice& dice) {
  std::vector<CurvePoint> curve;
  Nanos longest;
  CurvePoint point{};
  for (Int n = dice.between(1, 4); n > 0; --n) {
    point.bytes += Bytes{dice.pick<Int>({1, 2, 7, 300, 100'000'000})};
    point.rate = {dice.pick<Int>({1'000'000'000, 300'000'000, 70'000'000, 2'000'000'000, 9'999'999})};
    const Nanos time = point.rate.time_for(point.bytes);
    if (time < longest) continue;  // a larger copy takes no less time
    longest = time;
    curve.push_back(point);
  }
  return curve;
}

// What recomputing a scope costs, and settings that do.
void add_scopes(Case& random, Dice& dice) {
  const Int longest = dice.pick<Int>({0, 3, 1000}), largest = dice.pick<Int>({0, 3, 1000});
  for (BlockProfile& block : random.profile.blocks) {
    for (std::optional<Nanos>& part : block.times.scope_forward) part = Nanos{dice.between(0, longest)};
    for (std::optional<Bytes>& input : block.sizes.scope_input)
      if (dice.one_in(6)) input = Bytes{dice.between(0, largest)};
    for (ByScope<Bytes>* figures : {&block.sizes.scope_dropped_workspace, &block.sizes.scope_workspace})
      for (std::optional<Bytes>& workspace : *figures)
        if (dice.one_in(4)) workspace = Bytes{dice.between(0, largest)};
  }
  const bool recomputes =
      random.settings.policy == Policy::recompute || random.settings.policy == Policy::recompute_offload;
  if (recomputes && dice.one_in(3))
    random.settings.scope = dice.pick({Scope::attention, Scope::ffn, Scope::other});
}

// What blocks hand on, and what their backwards need less than they make.
void add_handing_on(Profile& profile, Dice& dice) {
  if (dice.one_in(2)) return;
  std::vector<BlockProfile>& blocks = profile.blocks;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    BlockSizes& sizes = blocks[i].sizes;
    if (dice.one_in(2)) sizes.input_gradient = Bytes{dice.between(0, 2 * sizes.input.value)};
    if (dice.one_in(2)) sizes.backward_relief = {dice.between(0, 2 * (sizes.input + sizes.gradient).value)};
    Bytes output = profile.fixed.output, gradient = output;
    if (i + 1 < blocks.size()) {
      const BlockSizes& next = blocks[i + 1].sizes;
      output = next.input;
      gradient = next.input_gradient.value_or(next.input);
    }
    if (dice.one_in(3)) continue;
    sizes.handed_on = {dice.between(0, std::min(sizes.input, output).value)};
    sizes.handed_on_gradient = {
        dice.between(0, std::min(sizes.input_gradient.value_or(sizes.input), gradient).value)};
  }
}

// At least one with weights; what they add up to may be all or a part of the block's.
void add_layers(BlockProfile& block, Dice& dice) {
  block.sizes.weight += Bytes{1};
  Bytes weight = block.sizes.weight - Bytes{1};
  Nanos forward = block.times.forward, backward = block.times.backward;
  std::array<Nanos, scope_count> scopes;
  for (std::size_t scope = 0; scope < scope_count; ++scope)
    scopes[scope] = block.times.scope_forward[scope].value_or(forward);
  for (Int i = 0, n = dice.between(1, 4); i < n; ++i) {
    Layer layer;
    layer.name = "layer." + std::to_string(i);
    layer.scope = dice.pick({Scope::attention, Scope::ffn, Scope::other});
    Nanos& of_scope = scopes[static_cast<std::size_t>(layer.scope)];
    layer.weight = {dice.one_in(4) ? 0 : dice.between(0, weight.value)};
    layer.forward = {dice.between(0, std::min(forward, of_scope).value)};
    layer.backward = {dice.between(0, backward.value)};
    weight -= layer.weight;
    forward -= layer.forward;
    of_scope -= layer.forward;
    backward -= layer.backward;
    if (dice.one_in(2)) layer.workspace = Bytes{dice.between(0, block.sizes.backward_workspace.value + 3)};
    block.layers.push_back(layer);
  }
  block.layers.back().weight += Bytes{1};
  if (dice.one_in(2))
    block.sizes.rest_workspace = Bytes{dice.between(0, block.sizes.forward_workspace.value)};
}

Link random_link(Dice& dice) {
  Link link;
  link.rate = {dice.pick<Int>({1'000'000'000, 1'000'000'000, 500'000'000, 3'000'000'000, 700'000'001,
                               26'000'000'000, 10'000'000, 1'000'000'000'000})};
  link.latency = {dice.pick<Int>({0, 0, 1, 7, 300, 10'000})};
  if (dice.one_in(4)) link.curve = random_curve(dice);
  return link;
}

Machine random_machine(Dice& dice) {
  const Bytes endless = {Int{1} << 60};
  Machine machine;
  machine.name = "random";
  machine.device.memory = endless;
  machine.host = {endless, endless, PinnedRounding::exact};
  machine.links.pageable = {1};
  for (Link* link : {&machine.links.h2d, &machine.links.d2h}) *link = random_link(dice);
  return machine;
}

// Some of what is offloaded stays on the host: none, all, or a part.
void add_disk(Case& random, Dice& dice) {
  Disk disk{random.machine.host.memory, {}, {}};
  for (Link* link : {&disk.read, &disk.write}) *link = random_link(dice);
  random.machine.disk = disk;
  Int wanted = 0;
  for (const BlockProfile& block : random.profile.blocks)
    for (const SavedTensor& tensor : block.saved) wanted += block.count * tensor.bytes.value;
  random.settings.transfer.disk_over = Bytes{dice.one_in(3) ? 0 : dice.between(0, wanted)};
}

Settings random_settings(Dice& dice, Int blocks) {
  Settings settings;
  settings.policy = dice.pick({Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload});
  settings.interval = dice.one_in(2) ? dice.between(1, 3) : dice.between(1, blocks + 1);
  if (dice.one_in(2)) settings.stride = settings.interval + dice.between(0, 3);
  if (dice.one_in(3)) settings.segmenting = Segmenting::every_nth;
  if (settings.policy == Policy::offload && dice.one_in(2))
    settings.scope = dice.pick({Scope::attention, Scope::ffn, Scope::other});
  if (dice.one_in(2)) {
    settings.swap.blocks = dice.one_in(4) ? blocks + dice.between(-1, 2) : dice.between(0, blocks);
    settings.swap.which = dice.pick({SwapWhich::last, SwapWhich::first, SwapWhich::spread});
    settings.swap.mode = dice.pick({SwapMode::h2d, SwapMode::two_way});
  }
  settings.transfer.prefetch = dice.pick<Int>({0, 0, 1, 1, 2, 3, blocks, 2 * blocks + 3});
  settings.transfer.h2d_streams = dice.pick<Int>({1, 1, 2, 3});
  settings.transfer.d2h_streams = dice.pick<Int>({1, 1, 2, 3});
  return settings;
}

// One JSON object, key by key. Names here need no escapes.
class Object {
 public:
  Object& raw(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + ('"' + key + "\": ") + value;
    return *this;
  }
  Object& number(const std::string& key, Int value) { return raw(key, std::to_string(value)); }
  Object& string(const std::string& key, const std::string& value) { return raw(key, '"' + value + '"'); }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string name(Scope scope) {
  return scope == Scope::attention ? "attention" : scope == Scope::ffn ? "ffn" : "other";
}

template <class T, class Render>
std::string array(const std::vector<T>& items, Render render) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ", ") + render(item);
  return "[" + text + "]";
}

std::string written(const SavedTensor& tensor) {
  Object object;
  object.string("name", tensor.name).number("bytes", tensor.bytes.value).string("scope", name(tensor.scope));
  if (tensor.storage) object.string("storage", *tensor.storage);
  return object.text();
}

template <class Quantity>
std::string written(const ByScope<Quantity>& all) {
  Object object;
  for (Scope scope : {Scope::attention, Scope::ffn, Scope::other})
    if (const auto& figure = all[static_cast<std::size_t>(scope)]) object.number(name(scope), figure->value);
  return object.text();
}

std::string written(const BlockProfile& block) {
  Object object;
  object.string("name", block.name).number("count", block.count);
  if (block.group) object.string("group", *block.group);
  const BlockSizes& sizes = block.sizes;
  object.number("forward_ns", block.times.forward.value)
      .number("backward_ns", block.times.backward.value)
      .number("input_bytes", sizes.input.value)
      .number("weight_bytes", sizes.weight.value)
      .number("gradient_bytes", sizes.gradient.value)
      .number("forward_workspace_bytes", sizes.forward_workspace.value)
      .number("backward_workspace_bytes", sizes.backward_workspace.value);
  if (sizes.dropped_workspace) object.number("dropped_workspace_bytes", sizes.dropped_workspace->value);
  object.raw("scope_forward_ns", written(block.times.scope_forward));
  object.raw("scope_input_bytes", written(sizes.scope_input));
  object.raw("scope_dropped_workspace_bytes", written(sizes.scope_dropped_workspace));
  object.raw("scope_workspace_bytes", written(sizes.scope_workspace));
  object.number("backward_relief_bytes", sizes.backward_relief.value)
      .number("handed_on_bytes", sizes.handed_on.value)
      .number("handed_on_gradient_bytes", sizes.handed_on_gradient.value);
  if (sizes.input_gradient) object.number("input_gradient_bytes", sizes.input_gradient->value);
  return object.raw("saved", array(block.saved, [](const SavedTensor& t) { return written(t); })).text();
}

std::string written(const Profile& profile) {
  const FixedCosts& costs = profile.fixed;
  Object fixed;
  fixed.number("resident_bytes", costs.resident.value)
      .number("optimizer_state_bytes", costs.optimizer_state.value)
      .number("output_bytes", costs.output.value)
      .number("epilogue_bytes", costs.epilogue_bytes.value)
      .number("prologue_ns", costs.prologue.value)
      .number("epilogue_ns", costs.epilogue.value)
      .number("optimizer_ns", costs.optimizer.value);
  Object object;
  object.string("format", "stowage.profile").number("version", 1).string("name", profile.name);
  if (profile.segments_cross_groups) object.raw("segments_cross_groups", "true");
  return object.raw("fixed", fixed.text())
      .raw("blocks", array(profile.blocks, [](const BlockProfile& block) { return written(block); }))
      .text();
}

std::string written(const CurvePoint& point) {
  return Object()
      .number("bytes", point.bytes.value)
      .number("bytes_per_second", point.rate.bytes_per_second)
      .text();
}

std::string written(const Link& link) {
  return Object()
      .number("bytes_per_second", link.rate.bytes_per_second)
      .number("latency_ns", link.latency.value)
      .raw("curve", array(link.curve, [](const CurvePoint& point) { return written(point); }))
      .text();
}

std::string written(const Machine& machine) {
  Object device, host, links, object;
  device.number("memory_bytes", machine.device.memory.value).number("reserved_bytes", 0);
  const char* const roundings[] = {"exact", "pow2", "slab"};
  host.number("memory_bytes", machine.host.memory.value)
      .number("pinned_limit_bytes", machine.host.pinned_limit.value)
      .string("pinned_rounding", roundings[static_cast<int>(machine.host.pinned_rounding)])
      .number("pin_ns", machine.host.pinning.each.value);
  if (machine.host.pinning.rate)
    host.number("pin_bytes_per_second", machine.host.pinning.rate->bytes_per_second);
  if (machine.host.device_margin)
    host.raw("pinned_counts_on_device", "true")
        .number("pinned_device_margin_bytes", machine.host.device_margin->value);
  links.raw("h2d", written(machine.links.h2d))
      .raw("d2h", written(machine.links.d2h))
      .number("pageable_bytes_per_second", machine.links.pageable.bytes_per_second)
      .raw("duplex", "1.0")
      .raw("compute_slowdown", "0.0");
  if (machine.disk)
    object.raw("disk", Object()
                           .number("capacity_bytes", machine.disk->capacity.value)
                           .raw("read", written(machine.disk->read))
                           .raw("write", written(machine.disk->write))
                           .text());
  return object.string("format", "stowage.machine")
      .number("version", 1)
      .string("name", machine.name)
      .raw("device", device.text())
      .raw("host", host.text())
      .raw("links", links.text())
      .string("arena", "ideal")
      .text();
}

std::string written(const Settings& settings) {
  const char* const policies[] = {"keep", "recompute", "offload", "recompute+offload"};
  const char* const which[] = {"last", "first", "spread"};
  Object object;
  object.string("policy", policies[static_cast<int>(settings.policy)]).number("interval", settings.interval);
  if (settings.stride) object.number("stride", *settings.stride);
  object.string("segmenting", settings.segmenting == Segmenting::contiguous ? "contiguous" : "every-nth");
  if (settings.scope) object.string("scope", name(*settings.scope));
  object.number("swap_blocks", settings.swap.blocks)
      .string("swap_which", which[static_cast<int>(settings.swap.which)])
      .string("swap_mode", settings.swap.mode == SwapMode::h2d ? "h2d" : "two-way")
      .number("prefetch", settings.transfer.prefetch)
      .number("h2d_streams", settings.transfer.h2d_streams)
      .number("d2h_streams", settings.transfer.d2h_streams);
  if (settings.transfer.max_buckets) object.number("max_buckets", *settings.transfer.max_buckets);
  if (settings.transfer.pinned_max) object.number("pinned_max_bytes", settings.transfer.pinned_max->value);
  if (settings.transfer.disk_over) object.number("disk_over_bytes", settings.transfer.disk_over->value);
  return object.text();
}

}  // namespace

Case random_case(std::uint64_t seed) {
  Dice dice(seed);
  Case random;
  random.profile = random_profile(dice);
  random.machine = random_machine(dice);
  Int blocks = 0;
  for (const BlockProfile& block : random.profile.blocks) blocks += block.count;
  random.settings = random_settings(dice, blocks);
  add_scopes(random, dice);
  add_handing_on(random.profile, dice);
  return random;
}

Case tiered_case(std::uint64_t seed) {
  Dice dice(seed + 2'000'000'011);
  Case random = random_case(seed);
  add_disk(random, dice);
  if (random.settings.policy == Policy::keep || random.settings.policy == Policy::recompute)
    random.settings.policy = dice.pick({Policy::offload, Policy::recompute_offload});
  return random;
}

Case rich_case(std::uint64_t seed) {
  Case rich = random_case(seed);
  Dice dice(seed + 1'000'000);
  add_disk(rich, dice);
  rich.profile.fixed.host_optimizer = Nanos{dice.between(0, 50)};
  for (BlockProfile& block : rich.profile.blocks) add_layers(block, dice);
  Settings& settings = rich.settings;
  settings.step = {dice.pick<Int>({1, 1, 2, 3}), dice.pick({OptimizerPlace::device, OptimizerPlace::host,
                                                            OptimizerPlace::streamed, OptimizerPlace::disk})};
  if (dice.one_in(2)) {
    settings.swap.mode = SwapMode::stream;
    settings.swap.keep = dice.pick<Int>({0, 1, 2, 5});
    if (dice.one_in(3)) settings.swap.keep_max = Bytes{dice.between(0, 12)};
  }
  return rich;
}

Case random_pooled_case(std::uint64_t seed) {
  Dice dice(seed + 1'000'000'007);
  Case random = random_case(seed);
  if (random.settings.policy == Policy::keep || random.settings.policy == Policy::recompute)
    random.settings.policy = dice.pick({Policy::offload, Policy::recompute_offload});
  HostMemory& host = random.machine.host;
  host.pinned_rounding = dice.pick({PinnedRounding::exact, PinnedRounding::pow2, PinnedRounding::slab});
  random.machine.links.pageable = {dice.pick<Int>({1'000'000'000, 300'000'000, 70'000'001, 20'000'000'000})};
  Int wanted = 0;
  for (const BlockProfile& block : random.profile.blocks)
    for (const SavedTensor& tensor : block.saved) wanted += block.count * tensor.bytes.value;
  TransferSettings& transfer = random.settings.transfer;
  if (dice.one_in(2)) transfer.max_buckets = dice.pick<Int>({0, 1, 1, 2, 3, 5});
  if (dice.one_in(3)) transfer.pinned_max = Bytes{dice.between(0, wanted)};
  if (dice.one_in(3)) host.pinned_limit = {dice.between(0, 2 * wanted)};
  if (dice.one_in(3)) host.pinning.each = {dice.pick<Int>({1, 5, 200, 10'000})};
  if (dice.one_in(4)) host.pinning.rate = Rate{dice.pick<Int>({1'000'000'000, 30'000'000, 7'000'000'000})};
  if (dice.one_in(4)) host.device_margin = Bytes{dice.pick<Int>({0, 1, 300})};
  return random;
}

std::string to_json(const Case& random) {
  return Object()
      .raw("profile", written(random.profile))
      .raw("machine", written(random.machine))
      .raw("settings", written(random.settings))
      .text();
}

}  // namespace stowage::reference
