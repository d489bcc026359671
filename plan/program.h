// A program: a plan compiled to steps on lanes. The simulator and the runtime are two interpreters of
// it.
//
// Each lane carries out its steps in order. Copies enter their lane when a compute step reaches an edge:
//
//            ready        begin            end
//   compute ...|~~~waits~~~|=====step k=====|        ready of k = end of k-1 (0 for the first)
//
//   h2d   step: issued at its trigger, starts after its lane's previous copy and after all its waits
//   d2h   the same; so do disk_read and disk_write, between the host and the disk
//
// So the order on every lane is known when the program is compiled; only times are left to the interpreter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/block_table.h"
#include "plan/plan.h"
#include "plan/range.h"
#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

using StepId = std::uint32_t;
using BufferId = std::uint32_t;

// When in the life of a step something happens. A compute step is never issued and a copy is never ready, so
// each has three edges; `ready` of a copy is the instant of its issue.
enum class Edge : std::uint8_t { ready, begin, end };
inline constexpr int edge_count = 3;

// An edge of a compute step.
struct Trigger {
  StepId step = 0;
  Edge edge = Edge::ready;

  auto operator<=>(const Trigger&) const = default;
};

struct Step {
  StepKind kind;
  Lane lane;
  std::optional<std::uint32_t> block;
  std::optional<std::uint32_t> storage;     // of saved tensors, see storages()
  Nanos duration;                           // compute steps
  Bytes bytes;                              // copies
  Trigger issue;                            // copies; ascending along a lane
  bool saves = true;                        // forward: whether autograd keeps what the backward needs
  std::optional<std::uint32_t> layer = {};  // of the block's layers, where it works on that one alone
  // Forward: the part that is dropped and made again; recompute: the part that is. Absent: the whole block.
  std::optional<Scope> scope = {};

  bool is_copy() const { return lane != Lane::compute; }
};

enum class BufferKind : std::uint8_t {
  resident,
  optimizer_state,
  weights,
  activation,  // a block's input or output
  activation_gradient,
  saved,
  workspace,
  gradient,    // of parameters
  checkpoint,  // what a file holds; on the host, and never pinned
};
inline constexpr int buffer_kind_count = 9;

enum class Space : std::uint8_t { device, host, disk };

struct Buffer {
  Space space;
  BufferKind kind;
  std::optional<std::uint32_t> block;  // activations: i of X_i, so that X_n has one more than the last block
  std::optional<std::uint32_t> storage;  // saved tensors
  Bytes bytes;
  // A part of several states (see state_memory.h) is held by each of them. It dies with the last `free` of
  // that many.
  std::uint32_t holders = 1;
};

inline bool is_pinnable(const Buffer& buffer) {
  return buffer.space == Space::host && buffer.kind != BufferKind::checkpoint;
}

// What a plan allows its pool of pinned host buffers; absent: as much as the machine has.
struct PinnedCaps {
  std::optional<std::int64_t> buckets;
  std::optional<Bytes> bytes;

  bool any() const { return buckets || bytes; }
};

// A buffer comes to life or dies at an edge of a step.
struct MemoryEffect {
  BufferId buffer;
  bool alloc;  // false: free
};

struct Program {
  std::vector<Step> steps;              // by lane
  std::array<Range, lane_count> lanes;  // their steps
  std::vector<Range> wait_ranges;       // for each step, into `waits`
  std::vector<StepId> waits;            // steps that must have ended before it begins
  std::vector<Buffer> buffers;
  std::vector<BufferId> initial;                             // buffers that live when the step begins
  std::vector<std::array<Range, edge_count>> effect_ranges;  // for each step and edge, into `effects`
  std::vector<MemoryEffect> effects;
  std::array<bool, lane_count> single_stream{true, true, true, false,
                                             false};  // a lane whose every copy pays the latency
  PinnedCaps pinned;
  bool shares = false;  // whether any buffer has several holders

  std::span<const Step> lane(Lane which) const;
  StepId first(Lane which) const { return lanes[static_cast<int>(which)].begin; }
  std::span<const StepId> waits_of(StepId step) const;
  // Frees first, then allocations, each in program order.
  std::span<const MemoryEffect> effects_at(StepId step, Edge edge) const;
};

// Whether a copy fills host memory, or reads it.
inline bool fills_host(Lane lane) {
  return lane == Lane::d2h || lane == Lane::disk_read;
}

// The host buffer of its size that comes or goes with a copy: what one that fills it allocates as it is
// issued, and what one that reads it frees as it ends. Absent: swapped weights, which have a place of their
// own.
std::optional<BufferId> host_side(const Program& program, StepId copy);

// Whether anything is copied from or to a disk.
bool uses_disk(const Program& program);

// Plan -> Program. The plan must have passed check(). Cost: linear in steps.
Program compile(const BlockTable& table, const Plan& plan);

// The program as text, one step a line, for tests and for people: "h2d  restore_saved 3.0  12 B  at begin of
// B3".
std::string describe(const Program& program);

}  // namespace stowage
