#include "traces/import/event_reader.h"

namespace stowage {
namespace {

constexpr std::string_view first_event_keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};

// Frames of Python are the most frequent events of a trace, and nothing asks for what else they tell.
bool args_matter(const TraceEvent& event) {
  return event.raw(EventField::category) != "python_function";
}

bool read_fields(JsonScan& scan, TraceEvent& event, bool inside_args) {
  if (!scan.take('{')) return false;
  std::string_view key;
  JsonText value;
  for (bool first = true; scan.another('}', first); first = false) {
    if (!scan.key(key)) return false;
    if (!inside_args && key == "args" && scan.peek() == '{' && args_matter(event)) {
      if (!read_fields(scan, event, true)) return false;
      continue;
    }
    if (!scan.value(value, JsonScan::Place::member)) return false;
    const std::optional<EventField> field = field_of(key, inside_args);
    if (field && value.kind != JsonText::Kind::word) event.set(*field, value);
  }
  return scan.failure() == JsonScan::Failure::none;
}

bool read_event(JsonScan& scan, TraceEvent& event) {
  event.clear();
  return read_fields(scan, event, false);
}

}  // namespace

EventReader::EventReader(ByteWindow& window, Repairs& repairs)
    : stream_(window, repairs,
              {.array = "traceEvents",
               .first_keys = first_event_keys,
               .element = [this](JsonScan& scan) { return read_event(scan, *event_); },
               .member = [this](std::string_view key, JsonScan& scan) { return read_member(key, scan); }}) {}

bool EventReader::next(TraceEvent& event) {
  event_ = &event;
  if (!stream_.next()) return false;
  event.offset = stream_.offset();
  event.repair = stream_.repair();
  return true;
}

bool EventReader::read_member(std::string_view key, JsonScan& scan) {
  if (key == "deviceProperties" && scan.peek() == '[') return read_devices(scan);
  const bool base = key == "baseTimeNanoseconds";  // the key may move with the text behind it
  JsonText value;
  if (!scan.value(value, JsonScan::Place::member)) return false;
  constexpr std::int64_t latest = 4'000'000'000'000'000'000;  // the year 2096
  const std::int64_t nanos = integer_of(value.text).value_or(0);
  if (base && nanos >= 0 && nanos <= latest) header_.base = Nanos{nanos};
  return true;
}

bool EventReader::read_devices(JsonScan& scan) {
  header_.devices.clear();
  if (!scan.take('[')) return false;
  TraceEvent entry;
  for (bool first = true; scan.another(']', first); first = false) {
    entry.clear();
    if (!read_fields(scan, entry, false)) return false;
    header_.devices.push_back({.id = entry.integer(EventField::id).value_or(0),
                               .name = std::string(entry.text(EventField::name)),
                               .memory = {entry.integer(EventField::total_memory).value_or(0)}});
  }
  return scan.failure() == JsonScan::Failure::none;
}

}  // namespace stowage
