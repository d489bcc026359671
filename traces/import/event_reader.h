// Reads the events of a Chrome trace one after another.
#pragma once

#include <cstdint>

#include "traces/import/json_stream.h"
#include "traces/import/trace_event.h"
#include "traces/import/trace_header.h"

namespace stowage {

// Reads {"traceEvents": [...], ...} or a bare array of events, whole or damaged, as JsonStream does.
class EventReader {
 public:
  // What was repaired within an event is in the event, for the caller to count once; the rest goes to
  // `repairs`. Both references must outlive the reader.
  EventReader(ByteWindow& window, Repairs& repairs);
  EventReader(const EventReader&) = delete;

  // False at the end of the recording. Texts in `event` live until the next call.
  bool next(TraceEvent& event);

  // Complete once next() has returned false: some of it may follow the events.
  const TraceHeader& header() const { return header_; }

 private:
  bool read_member(std::string_view key, JsonScan& scan);
  bool read_devices(JsonScan& scan);

  TraceHeader header_;
  TraceEvent* event_ = nullptr;
  JsonStream stream_;
};

}  // namespace stowage
