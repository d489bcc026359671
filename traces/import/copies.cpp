#include "traces/import/copies.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "traces/import/intervals.h"
#include "traces/import/medians.h"

namespace stowage {
namespace {

// Below this a duration that was cut to whole microseconds says little.
constexpr Nanos coarse{20'000};

bool measurable(const KinetoTrace& trace, const DeviceCopy& copy) {
  return copy.bytes && copy.timed && (!trace.whole_micros || copy.span.duration() >= coarse);
}

// Bytes a nanosecond.
double rate_of(const DeviceCopy& copy) {
  return static_cast<double>(copy.bytes->value) / static_cast<double>(copy.span.duration().value);
}

std::vector<CopyTraffic> traffic_of(const KinetoTrace& trace, const std::map<CopyKind, CopyFit>& links) {
  std::map<std::pair<CopyKind, StreamId>, CopyTraffic> by_stream;
  for (const DeviceCopy& copy : trace.copies) {
    CopyTraffic& traffic = by_stream[{copy.kind, copy.span.stream}];
    traffic.kind = copy.kind;
    traffic.stream = trace.streams[copy.span.stream];
    ++traffic.count;
    traffic.without_bytes += copy.bytes ? 0 : 1;
    traffic.bytes += copy.bytes.value_or(Bytes{});
    traffic.untimed += copy.timed ? 0 : 1;
    const auto link = links.find(copy.kind);
    const bool estimated = !copy.timed && copy.bytes && link != links.end();
    traffic.time += estimated ? link->second.time_for(*copy.bytes) : copy.span.duration();
  }
  std::vector<CopyTraffic> all;
  for (const auto& [key, traffic] : by_stream) all.push_back(traffic);
  return all;
}

std::vector<CopyClass> classes_of(const KinetoTrace& trace) {
  std::map<std::pair<CopyKind, int>, std::pair<CopyClass, std::vector<double>>> by_size;
  for (const DeviceCopy& copy : trace.copies) {
    if (!copy.kind.crosses() || !copy.bytes || copy.bytes->value == 0) continue;
    const int power = std::bit_width(static_cast<std::uint64_t>(copy.bytes->value));
    auto& [of, rates] = by_size[{copy.kind, (power - 1) / 4}];
    of.kind = copy.kind;
    of.smallest = of.count == 0 ? *copy.bytes : std::min(of.smallest, *copy.bytes);
    of.largest = std::max(of.largest, *copy.bytes);
    of.bytes += *copy.bytes;
    ++of.count;
    if (measurable(trace, copy) && copy.span.duration().value > 0) rates.push_back(rate_of(copy));
  }
  std::vector<CopyClass> classes;
  for (auto& [key, found] : by_size) {
    auto& [of, rates] = found;
    if (!rates.empty()) of.rate = {std::max<std::int64_t>(1, std::llround(median(std::move(rates)) * 1e9))};
    classes.push_back(of);
  }
  return classes;
}

std::map<CopyKind, CopyFit> links_of(const KinetoTrace& trace) {
  std::map<CopyKind, std::vector<CopySample>> samples;
  for (const DeviceCopy& copy : trace.copies) {
    if (copy.kind.crosses() && measurable(trace, copy))
      samples[copy.kind].push_back({*copy.bytes, copy.span.duration()});
  }
  std::map<CopyKind, CopyFit> links;
  for (const auto& [kind, found] : samples) {
    if (const std::optional<CopyFit> fit = fit_link(found)) links.emplace(kind, *fit);
  }
  return links;
}

std::optional<double> claimed_rate_off_by(const KinetoTrace& trace) {
  std::vector<double> ratios;
  for (const DeviceCopy& copy : trace.copies) {
    if (!measurable(trace, copy) || !copy.claimed || *copy.claimed <= 0 || copy.span.duration().value == 0)
      continue;
    ratios.push_back(rate_of(copy) / *copy.claimed);
  }
  if (ratios.empty()) return std::nullopt;
  return median(std::move(ratios));
}

// Time on a stream.
struct Piece {
  Nanos begin, end;
  StreamId stream;
};

}  // namespace

CopyReport copy_report(const KinetoTrace& trace, const Activity& activity) {
  std::map<CopyKind, CopyFit> links = links_of(trace);
  return {.traffic = traffic_of(trace, links),
          .classes = classes_of(trace),
          .links = std::move(links),
          .crossing = length(activity.crossing),
          .hidden = overlap(activity.crossing, activity.kernels),
          .claimed_rate_off_by = claimed_rate_off_by(trace)};
}

Occupation occupation(const KinetoTrace& trace, const Activity& activity) {
  std::vector<Piece> pieces;
  pieces.reserve(trace.device.size() + trace.copies.size());
  for (const DeviceSpan& span : trace.device) pieces.push_back({span.begin, span.end, span.stream});
  for (const DeviceCopy& copy : trace.copies)
    pieces.push_back({copy.span.begin, copy.span.end, copy.span.stream});
  const auto earlier = [](const Piece& a, const Piece& b) {
    return a.stream != b.stream ? a.stream < b.stream : a.begin < b.begin;
  };
  if (!std::is_sorted(pieces.begin(), pieces.end(), earlier))
    std::sort(pieces.begin(), pieces.end(), earlier);
  Occupation occupation;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Nanos over = pieces[i - 1].end - pieces[i].begin;
    if (pieces[i - 1].stream != pieces[i].stream || over.value <= 0) continue;
    ++occupation.same_stream_overlaps;
    occupation.largest_overlap = std::max(occupation.largest_overlap, over);
  }
  if (!pieces.empty()) occupation.busy = length(activity.all);
  return occupation;
}

}  // namespace stowage
