// The copies of one step: submitted when the program says so, waited for, and cleared away after.
//
// Memory that an ended copy leaves behind is freed on the compute thread alone, at the next edge of a compute
// step, or when an allocation would otherwise be refused. So frees are ordered with allocations, and what is
// live at an edge depends on no thread's luck.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "plan/program.h"
#include "runtime/device.h"
#include "runtime/model.h"
#include "runtime/recorder.h"
#include "runtime/step_state.h"

namespace stowage {

class Transfers {
 public:
  // All must outlive it.
  Transfers(const Program& program, Device& device, Model& model, StepState& state, Recorder& recorder);
  // Waits for what is under way; nothing more is handed over.
  ~Transfers();
  Transfers(const Transfers&) = delete;

  // Submits the copies that the program issues at this edge, which came at `at`. Throws MemoryRefused where
  // there is no room for what is to come, InputError where sizes are not the program's.
  void issue_at(Trigger trigger, Nanos at);
  // Waits for all that compute step `step` waits for and hands it over. Returns the earliest instant at which
  // the step could begin: 0 where it did not have to wait at all.
  Nanos wait_for(StepId step);
  // Frees what ended copies leave behind.
  void clear();
  // Returns once the last store of this block's weights has ended, if there is one.
  void settle_weights(std::uint32_t block);
  // Frees some device memory, waiting for a store if need be; false where none is under way.
  bool make_room();
  // Waits for all that was issued, and clears it.
  void drain();

 private:
  struct Slot {
    std::shared_ptr<Copy> copy;
    Instant issued;
    std::vector<c10::Storage> storages;  // what moves: to be freed after a store, handed over after a restore
  };

  Slot& slot(StepId copy) { return slots_[copy - first_copy_]; }
  bool reached(Lane lane, Trigger trigger) const;
  void issue(StepId id, Nanos at);
  void submit_issued(Lane lane);
  void send(StepId id, Slot& slot);
  void make_place(StepId id, Slot& slot);
  const HostBuffer* pooled(StepId id) const;
  bool clear_next(Lane lane);

  const Program& program_;
  Device& device_;
  Model& model_;
  StepState& state_;
  Recorder& recorder_;
  const StepId first_copy_;
  std::vector<Slot> slots_;                       // by copy
  std::vector<HostBuffer> host_;                  // by buffer; swapped weights have their own
  std::array<StepId, lane_count> next_issue_{};   // by lane: the first copy not issued yet
  std::array<StepId, lane_count> next_submit_{};  // the first not given to the device yet
  std::array<StepId, lane_count> next_clear_{};   // and the first not cleared yet
  std::int64_t waits_for_room_ = 0;
};

}  // namespace stowage
