#include "simulator/request_log.h"

#include <algorithm>
#include <iterator>

#include "traces/timeline_names.h"

namespace stowage {

// Every effect on the device becomes a request; those of buffers that live for no time go again.
void RequestLog::list(const Program& program, const StepTimes& times) {
  find_lives(program, times);
  ranks_.clear();
  for (std::vector<Rank>* ranks : {&ranks_, &merged_}) ranks->reserve(requests_.size());
  rank(false);
  rank(true);
  sort_ranks();
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
  shared_.clear();
  const auto note = [&](BufferId buffer, bool allocates, Nanos at, StepId step) {
    if (program.buffers[buffer].space != Space::device) return;
    (allocates ? lives_[buffer].birth : lives_[buffer].death) = at;
    requests_.push_back({at, allocates, buffer, step});
    if (!allocates && program.buffers[buffer].holders > 1) let_go(buffer, program.buffers[buffer].holders);
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
  for (const auto& [buffer, life] : shared_) {
    Request& last = requests_[life.request];
    if (life.holders > 0) last.at = never;  // somebody holds it for good
    lives_[buffer].death = last.at;
  }
}

// Of the requests of all holders only the last one frees the buffer.
void RequestLog::let_go(BufferId buffer, std::uint32_t holders) {
  const std::size_t now = requests_.size() - 1;
  SharedLife& life = shared_.try_emplace(buffer, SharedLife{holders, now}).first->second;
  --life.holders;
  if (life.request == now) return;
  const bool is_last = requests_[life.request].at <= requests_[now].at;
  requests_[is_last ? life.request : now].at = never;
  if (is_last) life.request = now;
}

void RequestLog::rank(bool allocations) {
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (request.allocates != allocations || request.at == never || !lives_[request.buffer].counts()) continue;
    ranks_.push_back({2 * static_cast<std::uint64_t>(request.at.value) + (allocations ? 1 : 0), i});
  }
}

// What one lane frees, or allocates, is in order already: few runs, which are merged two by two.
void RequestLog::sort_ranks() {
  for (bool sorted = false; !sorted;) {
    merged_.clear();
    sorted = true;
    for (auto begin = ranks_.begin(); begin != ranks_.end();) {
      const auto middle = std::is_sorted_until(begin, ranks_.end());
      const auto end = std::is_sorted_until(middle, ranks_.end());
      std::merge(begin, middle, middle, end, std::back_inserter(merged_));
      sorted = sorted && begin == ranks_.begin() && end == ranks_.end();
      begin = end;
    }
    ranks_.swap(merged_);
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
