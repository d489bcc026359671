#include <limits>

#include "tests/fuzz/attempt.h"
#include "traces/json.h"

using namespace stowage;

namespace {

constexpr double largest = std::numeric_limits<double>::max();

template <class Read>
bool accepts(Read read) {
  try {
    read();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// Writes a value again, whatever it is; ends the program if it is nothing that JSON knows.
void copy(const JsonNode& node, JsonWriter& json) {
  if (node.is_null()) {
    json.null();
  } else if (node.is_string()) {
    json.value(node.string());
  } else if (accepts([&] { node.boolean(); })) {
    json.value(node.boolean());
  } else if (accepts([&] { node.integer(); })) {
    json.value(node.integer());
  } else if (accepts([&] { node.number(-largest, largest); })) {
    json.value(node.number(-largest, largest));
  } else if (accepts([&] { node.items(); })) {
    json.begin_array();
    for (const JsonNode& item : node.items()) copy(item, json);
    json.end_array();
  } else {
    json.begin_object();
    for (const std::string& key : node.keys()) copy(node.at(key), json.key(key));
    json.end_object();
  }
}

std::string copied(const JsonNode& root) {
  JsonWriter json;
  copy(root, json);
  return json.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto root = attempt(bytes, size, JsonNode::parse);
  if (!root) return 0;
  const std::string once = copied(*root);
  if (copied(JsonNode::parse(once)) != once) std::abort();
  return 0;
}
