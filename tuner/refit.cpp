#include "tuner/refit.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "traces/error.h"
#include "tuner/middle.h"

namespace stowage {
namespace {

struct Piece {
  Lane lane;
  StepKind kind = StepKind::prologue;  // on a copy lane all are one
  std::optional<std::uint32_t> block = {};

  auto operator<=>(const Piece&) const = default;
};

using Times = std::map<Piece, Nanos>;

Piece piece_of(const Span& span) {
  if (span.lane != Lane::compute) return {span.lane};
  const StepKind kind = span.kind == StepKind::recompute ? StepKind::forward : span.kind;
  return {span.lane, kind, kind == StepKind::optimizer ? std::nullopt : span.block};
}

Times times_of(const Timeline& timeline) {
  Times times;
  for (const Span& span : timeline.spans) times[piece_of(span)] += span.end - span.begin;
  return times;
}

bool has_pageable(const Timeline& timeline, Lane lane) {
  return std::any_of(timeline.spans.begin(), timeline.spans.end(),
                     [&](const Span& span) { return span.lane == lane && span.pageable; });
}

// By how much a piece took longer than predicted.
struct Ratio {
  Nanos measured, predicted;

  std::int64_t times(std::int64_t value) const {
    return static_cast<std::int64_t>((static_cast<__int128>(value) * measured.value + predicted.value / 2) /
                                     predicted.value);
  }
  void stretch(Nanos& time) const { time.value = times(time.value); }
  void stretch(Rate& rate) const {
    rate.bytes_per_second =
        std::max<std::int64_t>(1, Ratio{predicted, measured}.times(rate.bytes_per_second));
  }
};

void stretch_forward(BlockProfile& block, const Ratio& ratio) {
  ratio.stretch(block.times.forward);
  for (std::optional<Nanos>& part : block.times.scope_forward)
    if (part) ratio.stretch(*part);
  for (Layer& layer : block.layers) ratio.stretch(layer.forward);
}

void stretch_backward(BlockProfile& block, const Ratio& ratio) {
  ratio.stretch(block.times.backward);
  for (Layer& layer : block.layers) ratio.stretch(layer.backward);
}

// Parts are rounded each for itself: together they must not pass the whole.
void keep_within(Nanos whole, std::vector<Nanos*> parts) {
  Nanos sum;
  for (const Nanos* part : parts) sum += *part;
  for (std::size_t i = 0; sum > whole && i < parts.size(); ++i) {
    const Nanos less = std::min(sum - whole, *parts[i]);
    *parts[i] -= less;
    sum -= less;
  }
}

void keep_parts_within(BlockProfile& block) {
  std::vector<Nanos*> scopes, forwards, backwards;
  for (std::optional<Nanos>& part : block.times.scope_forward)
    if (part) scopes.push_back(&*part);
  for (Layer& layer : block.layers) {
    forwards.push_back(&layer.forward);
    backwards.push_back(&layer.backward);
  }
  keep_within(block.times.forward, scopes);
  keep_within(block.times.forward, forwards);
  keep_within(block.times.backward, backwards);
}

void stretch(Link& link, const Ratio& ratio) {
  ratio.stretch(link.rate);
  ratio.stretch(link.latency);
  for (CurvePoint& point : link.curve) ratio.stretch(point.rate);
}

void stretch(Figures& figures, const Piece& piece, const Ratio& ratio) {
  FixedCosts& fixed = figures.profile.fixed;
  if (piece.lane == Lane::h2d) return stretch(figures.machine.links.h2d, ratio);
  if (piece.lane == Lane::d2h) return stretch(figures.machine.links.d2h, ratio);
  if (of_disk(piece.lane) && !figures.machine.disk) return;
  if (piece.lane == Lane::disk_read) return stretch(figures.machine.disk->read, ratio);
  if (piece.lane == Lane::disk_write) return stretch(figures.machine.disk->write, ratio);
  if (piece.kind == StepKind::prologue) return ratio.stretch(fixed.prologue);
  if (piece.kind == StepKind::epilogue) return ratio.stretch(fixed.epilogue);
  if (piece.kind == StepKind::optimizer) {
    ratio.stretch(fixed.optimizer);
    if (fixed.host_optimizer) ratio.stretch(*fixed.host_optimizer);
    return;
  }
  BlockProfile& block = figures.profile.blocks.at(*piece.block);
  piece.kind == StepKind::forward ? stretch_forward(block, ratio) : stretch_backward(block, ratio);
}

// By piece, a time of each measured step. Throws where the pieces are not those of the prediction.
std::map<Piece, std::vector<Nanos>> collect(const Times& expected, const std::vector<Timeline>& measured) {
  std::map<Piece, std::vector<Nanos>> taken;
  for (const Timeline& timeline : measured) {
    const Times times = times_of(timeline);
    if (!std::equal(times.begin(), times.end(), expected.begin(), expected.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; }))
      throw InputError("timeline", "spans", "expected the steps of the plan that was predicted");
    for (const auto& [piece, time] : times) taken[piece].push_back(time);
  }
  return taken;
}

}  // namespace

Refit refit(const Figures& figures, const Timeline& predicted, const std::vector<Timeline>& measured) {
  if (measured.empty()) throw InputError("timeline", "", "expected at least one measured step");
  Refit fit{figures, {}};
  fit.figures.profile.blocks = figures.profile.expanded();
  const auto keeps_rates = [&](Lane lane) {
    return has_pageable(predicted, lane) ||
           std::any_of(measured.begin(), measured.end(),
                       [&](const Timeline& timeline) { return has_pageable(timeline, lane); });
  };
  const Times expected = times_of(predicted);
  for (auto& [piece, times] : collect(expected, measured)) {
    const Ratio ratio{middle_of(std::move(times)), expected.at(piece)};
    fit.drift.push_back({piece.lane, piece.kind, piece.block, ratio.predicted, ratio.measured});
    if (ratio.predicted > Nanos{} && ratio.measured > Nanos{} && !keeps_rates(piece.lane))
      stretch(fit.figures, piece, ratio);
  }
  for (BlockProfile& block : fit.figures.profile.blocks) keep_parts_within(block);
  std::stable_sort(fit.drift.begin(), fit.drift.end(), [](const Drift& a, const Drift& b) {
    return std::abs((a.measured - a.predicted).value) > std::abs((b.measured - b.predicted).value);
  });
  return fit;
}

}  // namespace stowage
