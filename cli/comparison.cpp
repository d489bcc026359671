#include "cli/comparison.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace stowage {
namespace {

// What a span does, and the how-manieth time.
using Deed =
    std::tuple<Lane, StepKind, std::optional<std::uint32_t>, std::optional<std::uint32_t>, std::size_t>;

class Deeds {
 public:
  Deed next(const Span& span) {
    Deed deed{span.lane, span.kind, span.block, span.storage, 0};
    std::get<4>(deed) = seen_[deed]++;
    return deed;
  }

 private:
  std::map<Deed, std::size_t> seen_;
};

std::vector<SpanPair> pair(const Timeline& predicted, const Timeline& measured) {
  std::vector<SpanPair> pairs;
  std::map<Deed, std::size_t> places;
  Deeds of_predicted, of_measured;
  for (const Span& span : predicted.spans) {
    places[of_predicted.next(span)] = pairs.size();
    pairs.push_back({span, {}});
  }
  for (const Span& span : measured.spans) {
    const auto place = places.find(of_measured.next(span));
    if (place == places.end())
      pairs.push_back({{}, span});
    else
      pairs[place->second].measured = span;
  }
  return pairs;
}

std::array<FigurePair, lane_count> busy(const Timeline& predicted, const Timeline& measured) {
  std::array<FigurePair, lane_count> lanes;
  for (const Span& span : predicted.spans)
    lanes[static_cast<std::size_t>(span.lane)].predicted += (span.end - span.begin).value;
  for (const Span& span : measured.spans)
    lanes[static_cast<std::size_t>(span.lane)].measured += (span.end - span.begin).value;
  return lanes;
}

std::array<FigurePair, stall_cause_count> stalls(const Timeline& predicted, const Timeline& measured) {
  std::array<FigurePair, stall_cause_count> causes;
  for (const Stall& stall : predicted.stalls)
    causes[static_cast<std::size_t>(stall.cause)].predicted += (stall.end - stall.begin).value;
  for (const Stall& stall : measured.stalls)
    causes[static_cast<std::size_t>(stall.cause)].measured += (stall.end - stall.begin).value;
  return causes;
}

Nanos length(const std::optional<Span>& span) {
  return span ? span->end - span->begin : Nanos{};
}

}  // namespace

double FigurePair::difference() const {
  if (predicted == measured) return 0;
  if (predicted == 0) return std::numeric_limits<double>::infinity();
  return (static_cast<double>(measured) - static_cast<double>(predicted)) / static_cast<double>(predicted);
}

Nanos SpanPair::predicted_length() const {
  return length(predicted);
}

Nanos SpanPair::measured_length() const {
  return length(measured);
}

Nanos SpanPair::gap() const {
  const Nanos longer = measured_length() - predicted_length();
  return std::max(longer, -longer);
}

std::size_t Comparison::only_predicted() const {
  return static_cast<std::size_t>(
      std::count_if(spans.begin(), spans.end(), [](const SpanPair& pair) { return !pair.measured; }));
}

std::size_t Comparison::only_measured() const {
  return static_cast<std::size_t>(
      std::count_if(spans.begin(), spans.end(), [](const SpanPair& pair) { return !pair.predicted; }));
}

std::vector<SpanPair> Comparison::largest_gaps(std::size_t count) const {
  std::vector<SpanPair> found;
  for (const SpanPair& pair : spans)
    if (pair.predicted && pair.measured && pair.gap() > Nanos{}) found.push_back(pair);
  std::stable_sort(found.begin(), found.end(),
                   [](const SpanPair& a, const SpanPair& b) { return a.gap() > b.gap(); });
  found.resize(std::min(count, found.size()));
  return found;
}

Comparison compare(const Timeline& predicted, const Timeline& measured) {
  Comparison comparison;
  comparison.step = {predicted.step.value, measured.step.value};
  comparison.compute = {predicted.compute.value, measured.compute.value};
  comparison.stall = {(predicted.step - predicted.compute).value, (measured.step - measured.compute).value};
  comparison.device_peak = {peak(predicted.memory.device).value, peak(measured.memory.device).value};
  comparison.host_peak = {peak(predicted.memory.host).value, peak(measured.memory.host).value};
  comparison.busy = busy(predicted, measured);
  comparison.stalls = stalls(predicted, measured);
  comparison.spans = pair(predicted, measured);
  return comparison;
}

}  // namespace stowage
