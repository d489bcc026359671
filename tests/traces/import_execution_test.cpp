#include "tests/catch.h"
#include "traces/import/import.h"

using namespace stowage;

namespace {

std::string tensor(int storage, int elements) {
  return "[" + std::to_string(storage + 1000) + ", " + std::to_string(storage) + ", 0, " +
         std::to_string(elements) + R"(, 4, "cuda:0"])";
}

// Nodes with ids in the order in which they are made, as an execution trace has them.
class MadeNodes {
 public:
  int add(const std::string& name, int parent, const std::string& inputs = "",
          const std::string& outputs = "", const std::string& attributes = "") {
    const int id = next_++;
    text_ += std::string(text_.empty() ? "" : ",\n") + R"({"id": )" + std::to_string(id) + R"(, "name": ")" +
             name + R"(", "ctrl_deps": )" + std::to_string(parent) + R"(, "inputs": {"values": [)" + inputs +
             R"(], "shapes": [[4]]}, "outputs": {"values": [)" + outputs + R"(]}, "attrs": [)" + attributes +
             "]}";
    return id;
  }

  ImportReport import() const {
    const std::string whole = R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [)" + text_ + "]}";
    return import_recording(*open_bytes(std::span(whole)), "made", {});
  }

 private:
  int next_ = 2;
  std::string text_;
};

std::string attribute(const std::string& name, int value) {
  return R"({"name": ")" + name + R"(", "type": "uint64", "value": )" + std::to_string(value) + "}";
}

}  // namespace

TEST_CASE("a block saves what its forward makes and the backward reads") {
  MadeNodes nodes;
  const int main_thread =
      nodes.add("[pytorch|profiler|execution_trace|thread]", 1, "", "", attribute("tid", 1));
  const std::string forward = attribute("tid", 1);
  for (int block = 0; block < 3; ++block) {
    const int own = 10 * (block + 1);
    // a product makes 100 elements, seen through the operator around it as well; a sum in place makes nothing
    // new; a norm makes 50 that nobody reads later
    const int linear = nodes.add("aten::linear", main_thread, tensor(1, 8), tensor(own, 100), forward);
    nodes.add("aten::mm", linear, tensor(1, 8), tensor(own, 100),
              forward + ", " + attribute("seq_id", block));
    nodes.add("aten::add_", main_thread, tensor(own, 100), tensor(own, 100), forward);
    nodes.add("aten::norm", main_thread, tensor(own, 100), tensor(own + 1, 50), forward);
  }
  const int engine = nodes.add("[pytorch|profiler|execution_trace|thread]", 1, "", "", attribute("tid", 2));
  for (int block = 2; block >= 0; --block) {
    const std::string backward =
        attribute("tid", 2) + ", " + attribute("fw_tid", 1) + ", " + attribute("seq_id", block);
    const int node = nodes.add("MmBackward0", engine, "", "", backward);
    nodes.add("aten::mm", node, "[" + tensor(10 * (block + 1), 100) + "]", tensor(99, 8),
              attribute("tid", 2));
  }
  const ImportReport report = nodes.import();
  REQUIRE(report.format == RecordingFormat::execution_trace);
  REQUIRE(report.clean());
  REQUIRE(report.found.how == FoundBy::operators);
  REQUIRE(report.found.blocks.size() == 3);
  for (const ImportedBlock& block : report.found.blocks) {
    REQUIRE(block.bytes.saved == Bytes{400});  // 100 elements of 4 B
    REQUIRE(block.forward == Nanos{});
  }
}

TEST_CASE("flat nodes of older schemas are understood") {
  std::string text = R"({"schema": "1.0.1", "nodes": [)";
  for (int i = 0; i < 4; ++i) {
    text += (i > 0 ? "," : "") + std::string(R"({"name": "aten::mm", "id": )") + std::to_string(i + 2) +
            R"(, "parent": 1, "tid": 1, "seq_id": )" + std::to_string(i) + R"(, "fw_tid": 0, "inputs": [)" +
            tensor(1, 4) + R"(], "input_shapes": [[4]], "outputs": [)" + tensor(5 + i, 4) + "]}";
  }
  text +=
      R"(,{"name": "MmBackward0", "id": 9, "parent": 1, "tid": 2, "fw_tid": 1, "seq_id": 3, "inputs": [)" +
      tensor(8, 4) + "]}]}";
  const ImportReport report = import_recording(*open_bytes(std::span(text)), "old", {});
  REQUIRE(report.events == 5);
  REQUIRE(report.found.blocks.size() == 4);
  REQUIRE(report.found.blocks[3].bytes.saved == Bytes{16});
  REQUIRE(report.found.blocks[0].bytes.saved == Bytes{});
}

TEST_CASE("nodes whose parents go round do no harm") {
  const std::string text =
      R"({"nodes": [{"id": 2, "name": "a", "ctrl_deps": 3}, {"id": 3, "name": "b", "ctrl_deps": 2},
                             {"id": 4, "name": "c", "ctrl_deps": 4}]})";
  REQUIRE(import_recording(*open_bytes(std::span(text)), "round", {}).events == 3);
}

TEST_CASE("a node without a name has none, also where it is the first") {
  const std::string text =
      R"({"schema": "1.0.1", "nodes": [{"id": 2, "ctrl_deps": 1}, {"id": 3, "name": "b", "ctrl_deps": 1}]})";
  REQUIRE(import_recording(*open_bytes(std::span(text)), "unnamed", {}).events == 2);
  const std::string alone = R"({"schema": "1.0.1", "nodes": [{"id": 2, "ctrl_deps": 1}]})";
  REQUIRE(import_recording(*open_bytes(std::span(alone)), "unnamed", {}).events == 1);
}
