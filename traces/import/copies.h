// A recording's copies: what went where, how fast, and whether it hid behind compute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "traces/import/activity.h"
#include "traces/import/copy_kind.h"
#include "traces/import/kineto_trace.h"
#include "traces/import/link_fit.h"

namespace stowage {

// All copies of one direction and one kind of host memory on one stream.
struct CopyTraffic {
  CopyKind kind;
  Track stream;  // device and stream, as the trace numbers them
  std::int64_t count = 0;
  std::int64_t without_bytes = 0;
  std::int64_t untimed = 0;  // whose duration cannot be right
  Bytes bytes;
  Nanos time;  // with what untimed copies take by the rate of the others, where those tell one
};

// Copies over the link of one kind and of like sizes, none 16 times as large as another.
struct CopyClass {
  CopyKind kind;
  Bytes smallest, largest;
  std::int64_t count = 0;
  Bytes bytes;
  std::optional<Rate> rate;  // the middle one, latency included; absent where no duration tells
};

struct CopyReport {
  std::vector<CopyTraffic> traffic;   // by kind, then stream
  std::vector<CopyClass> classes;     // by kind, then size
  std::map<CopyKind, CopyFit> links;  // of those that cross the link
  Nanos crossing;                     // while at least one copy crosses the link
  Nanos hidden;                       // of that, while a kernel runs as well
  // bytes / duration over the rate that the trace states, in the middle; not 1 where the trace is wrong about
  // it. Absent where it states none.
  std::optional<double> claimed_rate_off_by;
};

// `activity` is the trace's.
CopyReport copy_report(const KinetoTrace& trace, const Activity& activity);

// How busy a device's streams were.
struct Occupation {
  Nanos busy;                             // while anything runs on one
  std::int64_t same_stream_overlaps = 0;  // spans that begin before the one before them on their stream ends
  Nanos largest_overlap;
};

Occupation occupation(const KinetoTrace& trace, const Activity& activity);

}  // namespace stowage
