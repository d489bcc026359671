#include "traces/export/chrome.h"

#include <cstdio>

#include "traces/json.h"

namespace stowage {
namespace {

constexpr int stall_thread = lane_count;

// Chrome's unit is the microsecond; three decimals keep nanoseconds exact.
std::string micros(Nanos nanos) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(nanos.value / 1000),
                static_cast<long long>(nanos.value % 1000));
  return text;
}

std::string title(const Span& span) {
  std::string text = name_of(span.kind);
  if (span.block) text += " " + std::to_string(*span.block);
  if (span.storage) text += "." + std::to_string(*span.storage);
  return text;
}

class ChromeTrace {
 public:
  ChromeTrace() { json_.begin_object().field("displayTimeUnit", "ns").key("traceEvents").begin_array(); }

  void add(const Timeline& timeline) {
    ++process_;
    name("process_name", 0, timeline.source + (timeline.name.empty() ? "" : " " + timeline.name));
    for (int lane = 0; lane < lane_count; ++lane) name("thread_name", lane, name_of(static_cast<Lane>(lane)));
    name("thread_name", stall_thread, "stalls");
    for (const Span& span : timeline.spans) add(span);
    for (const Stall& stall : timeline.stalls) add(stall);
    for (const MemorySample& sample : timeline.memory.device) add("device bytes", sample);
    for (const MemorySample& sample : timeline.memory.host) add("host bytes", sample);
    for (const Stall& stall : timeline.stalls) connect(timeline, stall);
  }

  std::string text() { return json_.end_array().end_object().text(); }

 private:
  JsonWriter& event(const char* phase, int thread, std::string_view name) {
    return json_.begin_row()
        .field("ph", phase)
        .field("pid", process_)
        .field("tid", thread)
        .field("name", name);
  }
  void name(const char* what, int thread, const std::string& text) {
    event("M", thread, what).key("args").begin_row().field("name", text).end_object().end_object();
  }
  void times(Nanos begin, Nanos end) {
    json_.key("ts").raw(micros(begin)).key("dur").raw(micros(end - begin));
  }
  void add(const Span& span) {
    event("X", static_cast<int>(span.lane), title(span));
    times(span.begin, span.end);
    if (span.lane != Lane::compute) json_.key("args").begin_row().field("bytes", span.bytes).end_object();
    json_.end_object();
  }
  void add(const Stall& stall) {
    event("X", stall_thread, std::string("waits: ") + name_of(stall.cause));
    times(stall.begin, stall.end);
    json_.end_object();
  }
  void add(const char* counter, const MemorySample& sample) {
    event("C", 0, counter).key("ts").raw(micros(sample.at));
    json_.key("args").begin_row().field("bytes", sample.bytes).end_object().end_object();
  }
  void connect(const Timeline& timeline, const Stall& stall);
  void flow(const char* phase, Lane lane, Nanos at) {
    event(phase, static_cast<int>(lane), "wait").field("cat", "wait").field("id", flows_);
    json_.key("ts").raw(micros(at));
    if (*phase == 'f') json_.field("bp", "e");
    json_.end_object();
  }

  JsonWriter json_;
  int process_ = 0, flows_ = 0;
};

// The copy whose end let the waiting step begin is the one that ends with the stall.
void ChromeTrace::connect(const Timeline& timeline, const Stall& stall) {
  const Span* copy = nullptr;
  const Span* step = nullptr;
  for (const Span& span : timeline.spans) {
    const bool waited = span.lane == Lane::compute && span.begin == stall.end && span.block == stall.block;
    const bool ended_it = span.lane != Lane::compute && span.end == stall.end && span.block == stall.block;
    if (waited && !step) step = &span;
    if (ended_it) copy = &span;
  }
  if (!copy || !step) return;
  ++flows_;
  flow("s", copy->lane, copy->begin);
  flow("f", Lane::compute, step->begin);
}

}  // namespace

std::string to_chrome_trace(const std::vector<Timeline>& timelines) {
  ChromeTrace trace;
  for (const Timeline& timeline : timelines) trace.add(timeline);
  return trace.text();
}

}  // namespace stowage
