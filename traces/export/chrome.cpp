#include "traces/export/chrome.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "traces/json.h"

namespace stowage {
namespace {

// The lanes that every timeline has, its stalls, and the lanes of a disk where one is used.
constexpr int stall_thread = lane_count_without_disk;
constexpr int thread_count = lane_count + 1;

int thread_of(Lane lane) {
  return static_cast<int>(lane) + of_disk(lane);
}
static_assert(static_cast<int>(Lane::disk_read) == stall_thread);

bool uses_disk(const Timeline& timeline) {
  return std::any_of(timeline.spans.begin(), timeline.spans.end(),
                     [](const Span& span) { return of_disk(span.lane); });
}

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
  if (span.layer) text += " layer " + std::to_string(*span.layer);
  if (span.pageable) text += " (pageable)";
  return text;
}

// The spans of each block, in time order: arrows are found among a block's few spans, not among all.
class BlockSpans {
 public:
  explicit BlockSpans(const std::vector<Span>& spans) {
    for (const Span& span : spans)
      if (span.block) spans_.push_back(&span);
    std::stable_sort(spans_.begin(), spans_.end(),
                     [](const Span* a, const Span* b) { return *a->block < *b->block; });
  }

  // The step that waited, and the copy that ended last before it began. Null where there is none.
  std::pair<const Span*, const Span*> ends_of(const Stall& stall) const {
    const Span* step = nullptr;
    const Span* copy = nullptr;
    for (auto at = first(*stall.block); at != spans_.end() && (*at)->block == stall.block; ++at)
      if (!step && (*at)->lane == Lane::compute && (*at)->begin >= stall.end) step = *at;
    for (auto at = first(*stall.block); step && at != spans_.end() && (*at)->block == stall.block; ++at) {
      const bool awaited =
          (*at)->lane != Lane::compute && (*at)->end > stall.begin && (*at)->end <= step->begin;
      if (awaited && (!copy || (*at)->end > copy->end)) copy = *at;
    }
    return {step, copy};
  }

 private:
  std::vector<const Span*>::const_iterator first(std::uint32_t block) const {
    return std::partition_point(spans_.begin(), spans_.end(),
                                [&](const Span* span) { return *span->block < block; });
  }

  std::vector<const Span*> spans_;
};

class ChromeTrace {
 public:
  ChromeTrace() { json_.begin_object().field("displayTimeUnit", "ns").key("traceEvents").begin_array(); }

  void add(const Timeline& timeline) {
    ++process_;
    name("process_name", 0, timeline.source + (timeline.name.empty() ? "" : " " + timeline.name));
    const int threads = uses_disk(timeline) ? thread_count : stall_thread + 1;
    for (int thread = 0; thread < threads; ++thread) add_thread(thread);
    for (const Span& span : timeline.spans) add(span);
    for (const Stall& stall : timeline.stalls) add(stall);
    for (const MemorySample& sample : timeline.memory.device) add("device bytes", sample);
    for (const MemorySample& sample : timeline.memory.host) add("host bytes", sample);
    for (const MemorySample& sample : timeline.memory.allocated) add("allocated bytes", sample);
    for (const MemorySample& sample : timeline.memory.reserved) add("reserved bytes", sample);
    for (const MemorySample& sample : timeline.memory.disk) add("disk bytes", sample);
    const BlockSpans spans(timeline.spans);
    for (const Stall& stall : timeline.stalls)
      if (stall.block) connect(spans.ends_of(stall));
  }

  std::string text() { return json_.end_array().end_object().text(); }

 private:
  // Thread numbers differ from process to process, and from the process's own: viewers join or move those.
  JsonWriter& event(const char* phase, int thread, std::string_view name) {
    return json_.begin_row()
        .field("ph", phase)
        .field("pid", process_)
        .field("tid", 10 * process_ + thread)
        .field("name", name);
  }
  void name(const char* what, int thread, const std::string& text) {
    event("M", thread, what).key("args").begin_row().field("name", text).end_object().end_object();
  }
  void add_thread(int thread) {
    const auto lane = static_cast<Lane>(thread - (thread > stall_thread));
    name("thread_name", thread, thread == stall_thread ? "stalls" : name_of(lane));
    event("M", thread, "thread_sort_index")
        .key("args")
        .begin_row()
        .field("sort_index", thread)
        .end_object()
        .end_object();
  }
  void times(Nanos begin, Nanos end) {
    json_.key("ts").raw(micros(begin)).key("dur").raw(micros(end - begin));
  }
  void add(const Span& span) {
    event("X", thread_of(span.lane), title(span));
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
  void connect(std::pair<const Span*, const Span*> step_and_copy) {
    const auto [step, copy] = step_and_copy;
    if (!step || !copy) return;
    ++flows_;
    flow("s", copy->lane, copy->begin);
    flow("f", Lane::compute, step->begin);
  }
  void flow(const char* phase, Lane lane, Nanos at) {
    event(phase, thread_of(lane), "wait").field("cat", "wait").field("id", flows_);
    json_.key("ts").raw(micros(at));
    if (*phase == 'f') json_.field("bp", "e");
    json_.end_object();
  }

  JsonWriter json_;
  int process_ = 0, flows_ = 0;
};

}  // namespace

std::string to_chrome_trace(const std::vector<Timeline>& timelines) {
  ChromeTrace trace;
  for (const Timeline& timeline : timelines) trace.add(timeline);
  return trace.text();
}

}  // namespace stowage
