#include "traces/import/execution_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "traces/import/json_stream.h"
#include "traces/import/sum_guard.h"
#include "traces/import/text_hash.h"

namespace stowage {
namespace {

constexpr std::string_view node_keys[] = {"id", "name", "ctrl_deps", "inputs", "parent"};

// Walks one node.
class NodeReader {
 public:
  // The first name, 0, is that of nodes without one.
  explicit NodeReader(NameTable& names) : names_(&names) { names.id_of(""); }

  bool read(JsonScan& scan, ExecutionNode& node) {
    node = {};
    if (!scan.take('{')) return false;
    std::string_view key;
    for (bool first = true; scan.another('}', first); first = false) {
      if (!scan.key(key) || !read_member(scan, key, node)) return false;
    }
    return scan.failure() == JsonScan::Failure::none;
  }

 private:
  bool read_member(JsonScan& scan, std::string_view key, ExecutionNode& node) {
    if (key == "inputs") return read_tensors(scan, node, node.inputs);
    if (key == "outputs") return read_tensors(scan, node, node.outputs);
    if (key == "attrs" && scan.peek() == '[') return read_attributes(scan, node);
    JsonText value;
    if (!scan.value(value, JsonScan::Place::member)) return false;
    if (key == "name") {
      node.name = names_->id_of(value.escaped ? unescaped(value.text) : std::string(value.text));
    } else if (key == "input_shapes") {
      node.shapes = hash_of(value.text);
    } else {
      set(key, value.text, node);
    }
    return true;
  }

  static void set(std::string_view key, std::string_view text, ExecutionNode& node) {
    const auto number = integer_of(text);
    if (!number) return;
    if (key == "id") node.id = static_cast<std::uint64_t>(*number);
    if (key == "ctrl_deps" || key == "parent") node.parent = static_cast<std::uint64_t>(*number);
    if (key == "tid") node.thread = *number;
    if (key == "fw_tid") node.forward_thread = *number;
    if (key == "scope") node.scope = *number;
    if (key == "seq_id" && *number >= 0) node.sequence = static_cast<std::uint32_t>(*number);
  }

  // {"values": [...], "shapes": [...]} or, in flat nodes, the values alone.
  bool read_tensors(JsonScan& scan, ExecutionNode& node, std::vector<TensorUse>& into) {
    if (scan.peek() != '{') return read_values(scan, into, 0);
    scan.take('{');
    std::string_view key;
    JsonText value;
    for (bool first = true; scan.another('}', first); first = false) {
      if (!scan.key(key)) return false;
      if (key == "values" && scan.peek() == '[') {
        if (!read_values(scan, into, 0)) return false;
        continue;
      }
      if (!scan.value(value, JsonScan::Place::member)) return false;
      if (key == "shapes" && &into == &node.inputs) node.shapes = hash_of(value.text);
    }
    return scan.failure() == JsonScan::Failure::none;
  }

  // A tensor is [id, storage, offset, elements, bytes of one, "device"], at any depth of lists.
  bool read_values(JsonScan& scan, std::vector<TensorUse>& into, int depth) {
    constexpr int deepest = 16;
    JsonText value;
    if (scan.peek() != '[' || depth == deepest) return scan.value(value, JsonScan::Place::item);
    scan.take('[');
    std::vector<std::uint64_t> numbers;
    bool tensor = false;
    for (bool first = true; scan.another(']', first); first = false) {
      if (scan.peek() == '[') {
        if (!read_values(scan, into, depth + 1)) return false;
        continue;
      }
      if (!scan.value(value, JsonScan::Place::item)) return false;
      tensor = numbers.size() == 5 && value.kind == JsonText::Kind::string;
      numbers.push_back(identifier_of(value.text).value_or(0));
    }
    if (tensor && numbers.size() == 6) add_tensor(numbers, into);
    return scan.failure() == JsonScan::Failure::none;
  }

  void add_tensor(const std::vector<std::uint64_t>& numbers, std::vector<TensorUse>& into) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40, largest = 1 << 12;
    if (numbers[2] >= most || numbers[3] >= most || numbers[4] >= largest) return;
    const auto bytes = static_cast<std::int64_t>((numbers[2] + numbers[3]) * numbers[4]);
    if (sizes_.admit(bytes)) into.push_back({numbers[1], {bytes}});
  }

  // [{"name": "seq_id", "type": "int64", "value": 5}, ...]
  static bool read_attributes(JsonScan& scan, ExecutionNode& node) {
    scan.take('[');
    for (bool first = true; scan.another(']', first); first = false) {
      std::string_view key, name, text;
      JsonText value;
      if (!scan.take('{')) return false;
      for (bool start = true; scan.another('}', start); start = false) {
        if (!scan.key(key) || !scan.value(value, JsonScan::Place::member)) return false;
        if (key == "name") name = value.text;
        if (key == "value") text = value.text;
      }
      set(name, text, node);
    }
    return scan.failure() == JsonScan::Failure::none;
  }

  NameTable* names_;
  SumGuard sizes_;
};

// Which nodes lie inside which, by index; the root of everything is past the end.
std::vector<std::vector<std::size_t>> children_of(const std::vector<ExecutionNode>& nodes) {
  std::unordered_map<std::uint64_t, std::size_t> index_of;
  for (std::size_t i = 0; i < nodes.size(); ++i) index_of.emplace(nodes[i].id, i);
  std::vector<std::vector<std::size_t>> children(nodes.size() + 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto parent = index_of.find(nodes[i].parent);
    const bool earlier = parent != index_of.end() && parent->second < i;  // a cycle would have no begin
    children[earlier ? parent->second : nodes.size()].push_back(i);
  }
  return children;
}

// Begins and ends in the order in which a walk over the tree comes by.
std::vector<std::pair<Nanos, Nanos>> ticks_of(const std::vector<ExecutionNode>& nodes) {
  const std::vector<std::vector<std::size_t>> children = children_of(nodes);
  std::vector<std::pair<Nanos, Nanos>> ticks(nodes.size());
  std::vector<std::pair<std::size_t, std::size_t>> open = {
      {nodes.size(), 0}};  // a node, and how many are done
  Nanos clock;
  constexpr Nanos tick{1000};
  while (!open.empty()) {
    auto& [node, done] = open.back();
    if (done < children[node].size()) {
      const std::size_t child = children[node][done++];
      ticks[child].first = clock += tick;
      open.emplace_back(child, 0);
    } else {
      if (node < nodes.size()) ticks[node].second = clock += tick;
      open.pop_back();
    }
  }
  return ticks;
}

HostKind kind_of(const ExecutionNode& node, const std::string& name) {
  constexpr std::int64_t user_scope = 7;
  if (name.starts_with("autograd::engine::evaluate_function") ||
      name.starts_with("torch::autograd::AccumulateGrad") || node.forward_thread > 0) {
    return HostKind::backward_node;
  }
  return node.scope == user_scope ? HostKind::annotation : HostKind::operation;
}

}  // namespace

ExecutionNodes read_execution_nodes(ByteWindow& window, Repairs& repairs) {
  ExecutionNodes all;
  NodeReader reader(all.names);
  ExecutionNode node;
  JsonStream stream(window, repairs,
                    {.array = "nodes",
                     .first_keys = node_keys,
                     .element = [&](JsonScan& scan) { return reader.read(scan, node); },
                     .member = {}});
  while (stream.next()) {
    if (stream.repair()) repairs.add(*stream.repair(), stream.offset());
    all.nodes.push_back(node);
  }
  std::stable_sort(all.nodes.begin(), all.nodes.end(),
                   [](const ExecutionNode& a, const ExecutionNode& b) { return a.id < b.id; });
  return all;
}

KinetoTrace as_host_trace(const ExecutionNodes& nodes) {
  KinetoTrace trace;
  std::map<std::int64_t, ThreadId> threads;
  const std::vector<std::pair<Nanos, Nanos>> ticks = ticks_of(nodes.nodes);
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    const ExecutionNode& node = nodes.nodes[i];
    const std::string& name = nodes.names.text(node.name);
    const bool stands_for_thread = name.starts_with("[pytorch|");
    const auto [thread, added] = threads.try_emplace(node.thread, static_cast<ThreadId>(threads.size()));
    if (added) trace.threads.push_back({0, node.thread});
    trace.host.push_back({.begin = ticks[i].first,
                          .end = ticks[i].second,
                          .name = trace.names.id_of(stands_for_thread ? "" : name),
                          .thread = thread->second,
                          .kind = stands_for_thread ? HostKind::annotation : kind_of(node, name),
                          .forward_thread = static_cast<std::uint16_t>(node.forward_thread),
                          .sequence = node.sequence,
                          .shapes = node.shapes,
                          .external = 0});
  }
  trace.events = static_cast<std::int64_t>(nodes.nodes.size());
  return trace;
}

}  // namespace stowage
