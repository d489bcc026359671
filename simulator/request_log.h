// What a finished execution asked of the device's arena, in order: frees before allocations at one instant,
// and each in program order. What came and went at one instant was never there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "plan/program.h"
#include "simulator/step_times.h"
#include "traces/journal.h"

namespace stowage {

// Keeps its memory from one program to the next. Not shared between threads.
class RequestLog {
 public:
  // Streams are lanes: all memory is that of the compute lane, whose thread allocates it, and a buffer that
  // dies with a copy was last used by the copy's lane. Steps that never ended are left out. Cost: linear in
  // steps, and sorting the requests.
  void list(const Program& program, const StepTimes& times);

  const std::vector<JournalEntry>& entries() const { return entries_; }
  // Whose edge the entry belongs to; the program's first for what is there from the start.
  StepId step_of(std::size_t entry) const { return steps_[entry]; }
  // Buffers are numbered anew, as they come to life.
  Journal journal() const;

 private:
  struct Life {
    Nanos birth = never, death = never;

    bool counts() const { return birth != never && birth != death; }
  };
  struct Request {
    Nanos at;
    bool allocates;
    BufferId buffer;
    StepId step;
  };
  // Of a buffer that several hold: those who still do, and the request of the last who did.
  struct SharedLife {
    std::uint32_t holders;
    std::size_t request;
  };
  // What requests are sorted by: the instant and the kind in one number, and the place in the program.
  struct Rank {
    std::uint64_t when;
    std::uint32_t request;

    bool operator<(const Rank& other) const {
      return when != other.when ? when < other.when : request < other.request;
    }
  };

  void find_lives(const Program& program, const StepTimes& times);
  void let_go(BufferId buffer, std::uint32_t holders);
  void rank(bool allocations);
  void sort_ranks();

  std::vector<Life> lives_;
  std::map<BufferId, SharedLife> shared_;
  std::vector<Request> requests_;  // in program order
  std::vector<Rank> ranks_, merged_;
  std::vector<JournalEntry> entries_;
  std::vector<StepId> steps_;
};

}  // namespace stowage
