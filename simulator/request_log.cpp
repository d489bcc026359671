#include "simulator/request_log.h"

#include <algorithm>
#include <tuple>

#include "traces/timeline_names.h"

namespace stowage {

// Every effect on the device becomes a request; those of buffers that live for no time go again.
void RequestLog::list(const Program& program, const StepTimes& times) {
  find_lives(program, times);
  std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
    return std::tie(a.at, a.allocates, a.order) < std::tie(b.at, b.allocates, b.order);
  });
  entries_.clear();
  steps_.clear();
  for (const Request& request : requests_) {
    if (!lives_[request.buffer].counts()) continue;
    const Bytes bytes = request.allocates ? program.buffers[request.buffer].bytes : Bytes{};
    const Lane last = request.allocates ? Lane::compute : program.steps[request.step].lane;
    entries_.push_back(
        {request.at, request.buffer, request.allocates, bytes, static_cast<std::uint32_t>(last)});
    steps_.push_back(request.step);
  }
}

void RequestLog::find_lives(const Program& program, const StepTimes& times) {
  lives_.assign(program.buffers.size(), {});
  requests_.clear();
  const auto note = [&](BufferId buffer, bool allocates, Nanos at, StepId step) {
    if (program.buffers[buffer].space != Space::device) return;
    (allocates ? lives_[buffer].birth : lives_[buffer].death) = at;
    requests_.push_back({at, allocates, static_cast<std::uint32_t>(requests_.size()), buffer, step});
  };
  for (BufferId id : program.initial) note(id, true, {}, program.first(Lane::compute));
  for (StepId step = 0; step < program.steps.size(); ++step)
    for (Edge edge : {Edge::ready, Edge::begin, Edge::end}) {
      const Range range = program.effect_ranges[step][static_cast<int>(edge)];
      if (range.begin == range.end) continue;
      const Nanos at = edge_of(program, times, step, edge);
      if (at == never) continue;
      for (std::uint32_t i = range.begin; i != range.end; ++i)
        note(program.effects[i].buffer, program.effects[i].alloc, at, step);
    }
}

Journal RequestLog::journal() const {
  Journal journal;
  for (std::string_view lane : lane_names) journal.streams.emplace_back(lane);
  std::vector<std::uint32_t> numbers(lives_.size());
  std::uint32_t buffers = 0;
  for (JournalEntry entry : entries_) {
    if (entry.allocates) numbers[entry.buffer] = buffers++;
    entry.buffer = numbers[entry.buffer];
    journal.entries.push_back(entry);
  }
  return journal;
}

}  // namespace stowage
