// One step under way: walks the compute lane of the program, edge by edge.
#pragma once

#include <vector>

#include "plan/program.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/model.h"
#include "runtime/recorder.h"
#include "runtime/step_state.h"
#include "runtime/transfers.h"

namespace stowage {

class StepRun {
 public:
  // The clock starts now. All must outlive it.
  StepRun(const Program& program, Device& device, Model& model, StepState& state, Optimizer& optimizer);
  ~StepRun();
  StepRun(const StepRun&) = delete;

  // Once. What it throws leaves the step broken off at current().
  StepReport run();
  StepId current() const { return current_; }
  // Hold the model to what the program says its forwards leave; see excess.h.
  void refuse_excess() { refuse_excess_ = true; }

 private:
  void run_step(StepId id);
  void note_spans();
  void compute(const Step& step);
  void optimize();
  void free_at(StepId id, Edge edge);

  const Program& program_;
  Device& device_;
  Model& model_;
  StepState& state_;
  Optimizer& optimizer_;
  Recorder recorder_;
  Transfers transfers_;
  StepId current_ = 0;
  bool refuse_excess_ = false;
  Nanos ready_;                                     // when the step before current_ ended, as far as is known
  std::vector<std::shared_ptr<DeviceWork>> works_;  // by compute step
  StepReport report_;
};

}  // namespace stowage
