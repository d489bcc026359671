#include "simulator/request_log.h"

#include <algorithm>

#include "traces/timeline_names.h"

namespace stowage {

// Every effect on the device becomes a request; those of buffers that live for no time go again.
void RequestLog::list(const Program& program, const StepTimes& times) {
  find_lives(program, times);
  ranks_.clear();
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (!lives_[request.buffer].counts()) continue;
    const auto at = static_cast<std::uint64_t>(request.at.value);
    ranks_.push_back({2 * at + (request.allocates ? 1 : 0), i});
  }
  std::sort(ranks_.begin(), ranks_.end());
  entries_.clear();
  steps_.clear();
  for (const Rank& rank : ranks_) {
    const Request& request = requests_[rank.request];
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
    requests_.push_back({at, allocates, buffer, step});
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
  // No device memory is a disk's to use, in programs that are compiled.
  std::size_t streams = static_cast<std::size_t>(Lane::disk_read);
  for (const JournalEntry& entry : entries_) streams = std::max<std::size_t>(streams, entry.stream + 1);
  for (std::size_t lane = 0; lane < streams; ++lane) journal.streams.emplace_back(lane_names[lane]);
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
