#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "traces/error.h"
#include "traces/json.h"

namespace stowage {
namespace {

using Json = nlohmann::json;

// Most texts are plain names, for which the library takes ten times as long.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

std::string json_text(std::string_view text) {
  if (is_plain(text)) return '"' + std::string(text) + '"';
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// Text is written as it comes, since documents may be large; `open` tells what is being written.
struct JsonWriter::State {
  struct Level {
    bool object;
    bool empty = true;
    bool after_key = false;
    bool flat;  // on one line: a row, or an array that so far holds scalars only
  };
  std::string text;
  std::vector<Level> open;

  void indent() { text += "\n" + std::string(2 * open.size(), ' '); }
  void before_value(bool container);
  void close(bool object);
};

void JsonWriter::State::before_value(bool container) {
  if (open.empty()) {
    if (!text.empty()) throw DefectError("JSON: a second document");
    return;
  }
  Level& level = open.back();
  if (level.object) {
    if (!level.after_key) throw DefectError("JSON: a value without a key");
    level.after_key = false;
    return;
  }
  if (container) level.flat = false;
  if (!level.empty) text += level.flat ? ", " : ",";
  if (!level.flat) indent();
  level.empty = false;
}

void JsonWriter::State::close(bool object) {
  if (open.empty() || open.back().object != object || open.back().after_key)
    throw DefectError("JSON: closed wrongly");
  const Level level = open.back();
  open.pop_back();
  if (!level.empty && !level.flat) indent();
  text += object ? '}' : ']';
}

JsonWriter::JsonWriter() : state_(std::make_unique<State>()) {}
JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::begin_object() {
  state_->before_value(true);
  state_->open.push_back({true, true, false, false});
  state_->text += '{';
  return *this;
}

JsonWriter& JsonWriter::begin_row() {
  begin_object();
  state_->open.back().flat = true;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  state_->close(true);
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  state_->before_value(true);
  state_->open.push_back({false, true, false, true});
  state_->text += '[';
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  state_->close(false);
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (state_->open.empty() || !state_->open.back().object || state_->open.back().after_key)
    throw DefectError("JSON: a key out of place");
  State::Level& level = state_->open.back();
  if (!level.empty) state_->text += level.flat ? ", " : ",";
  if (!level.flat) state_->indent();
  state_->text += json_text(name) + ": ";
  level.empty = false;
  level.after_key = true;
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
  state_->before_value(false);
  state_->text += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  state_->before_value(false);
  state_->text += Json(number).dump();
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  state_->before_value(false);
  state_->text += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  state_->before_value(false);
  state_->text += json_text(text);
  return *this;
}

JsonWriter& JsonWriter::null() {
  state_->before_value(false);
  state_->text += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(const std::string& json) {
  state_->before_value(true);
  const std::string indent = "\n" + std::string(2 * state_->open.size(), ' ');
  const std::size_t end = json.find_last_not_of('\n');
  for (std::size_t i = 0; i <= end && i < json.size(); ++i) {
    if (json[i] == '\n')
      state_->text += indent;
    else
      state_->text += json[i];
  }
  return *this;
}

std::string JsonWriter::text() const {
  if (!state_->open.empty()) throw DefectError("JSON: not closed");
  return state_->text + "\n";
}

}  // namespace stowage
