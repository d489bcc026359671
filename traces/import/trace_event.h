// One event of a Chrome trace, as profilers write them: the fields that anything here asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/import/json_text.h"
#include "traces/import/repairs.h"
#include "traces/units.h"

namespace stowage {

enum class EventField : std::uint8_t {
  // of the event
  phase,
  category,
  name,
  process,
  thread,
  begin,
  duration,
  // of its "args"
  correlation,
  external_id,
  sequence,
  forward_thread,
  shapes,
  bytes,
  bandwidth,
  collective,
  address,
  memory_bytes,
  total_allocated,
  total_reserved,
  device_type,
  device_id,
  sync_kind,
  awaited_stream,
  // of an entry of "deviceProperties"
  id,
  total_memory,
};
inline constexpr std::size_t field_count = 25;

// The field that a key names, at the top of an event or inside "args". Older spellings mean the same field.
std::optional<EventField> field_of(std::string_view key, bool inside_args);

// Texts point into the reader's buffer: an event is good until the next one is read.
class TraceEvent {
 public:
  void clear() {
    present_ = 0;
    repair.reset();
  }
  void set(EventField field, const JsonText& text) {
    texts_[static_cast<std::size_t>(field)] = text;
    present_ |= bit(field);
  }

  bool has(EventField field) const { return (present_ & bit(field)) != 0; }
  // As it stands in the file, escapes included; empty where the field is absent.
  std::string_view raw(EventField field) const {
    return has(field) ? texts_[static_cast<std::size_t>(field)].text : std::string_view();
  }
  // Without escapes. The text lives as long as the event's does.
  std::string_view text(EventField field) const;
  std::optional<std::int64_t> integer(EventField field) const;
  std::optional<std::uint64_t> identifier(EventField field) const;
  std::optional<double> number(EventField field) const;
  std::optional<Nanos> micros(EventField field) const;
  // A process or thread: a number, one that is written as a string, or the number behind "stream"; any other
  // text stands for itself and is never equal to a number that occurs.
  std::int64_t track(EventField field) const;

  char phase() const { return raw(EventField::phase).empty() ? '\0' : raw(EventField::phase)[0]; }

  std::uint64_t offset = 0;      // of the event, in the unpacked file
  std::optional<Repair> repair;  // the gravest that it took to read it

 private:
  static constexpr std::uint64_t bit(EventField field) { return std::uint64_t{1} << static_cast<int>(field); }

  std::uint64_t present_ = 0;
  std::array<JsonText, field_count> texts_;
  mutable std::array<std::string, field_count> unescaped_;
};

}  // namespace stowage
