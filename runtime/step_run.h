// One step under way: walks the compute lane of the program, edge by edge.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/program.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/layer.h"
#include "runtime/layer_loads.h"
#include "runtime/learned_order.h"
#include "runtime/model.h"
#include "runtime/recorder.h"
#include "runtime/step_state.h"
#include "runtime/transfers.h"

namespace stowage {

// Where weights stream, the steps of one pass through a block are one call: the block says when it goes on to
// its next layer, and the walk goes on to that layer's step. On a device that works behind the thread's back,
// spans of layers are those of its calls.
class StepRun final : private LayerListener {
 public:
  // The clock starts now. All must outlive it; `orders` is what steps have shown of the order of layers.
  StepRun(const Program& program, Device& device, Model& model, StepState& state, Optimizer& optimizer,
          LayerOrders& orders);
  ~StepRun() override;
  StepRun(const StepRun&) = delete;

  // Once. What it throws leaves the step broken off at current().
  StepReport run();
  StepId current() const { return current_; }
  // Hold the model to what the program says its forwards leave; see excess.h.
  void refuse_excess() { refuse_excess_ = true; }

 private:
  void run_call();
  StepId end_of_call() const;
  Nanos arrive();
  void begin_step(Instant begin);
  void leave_step();
  void end_step(Instant end);
  void go_on_to(StepId target);
  void finish_layers();
  void leave_layer();
  void note_layer(std::optional<std::uint32_t> layer, Nanos time);
  bool make_room();
  void on_layer(std::uint32_t layer) override;
  void on_save(const at::Tensor& parameter) override;
  void on_use(const at::Tensor& parameter) override;
  std::optional<LayerId> layer_with(const at::Tensor& parameter);
  void bring(LayerId layer, std::optional<LayerId> before);
  void fetch_what_follows(LayerId layer);
  StepId step_of(std::uint32_t layer, StepId from) const;
  LearnedOrder& order();
  void count_loads();
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
  LayerOrders& orders_;
  LayerLoads loads_;
  LayerListener* const outer_listener_;
  StepId current_ = 0;
  StepId call_begin_ = 0, call_end_ = 0;  // the steps of the call under way
  std::optional<LayerId> running_;        // in it
  Instant running_since_;
  Bytes before_call_;     // what lived as the call began
  bool is_used_ = false;  // whether the layer of the current step has run
  std::int64_t unused_loads_ = 0, discarded_ = 0;
  Instant begin_;  // of the current step
  StepMemory used_;
  bool refuse_excess_ = false;
  Nanos ready_;                                     // when the step before current_ ended, as far as is known
  std::vector<std::shared_ptr<DeviceWork>> works_;  // by compute step
  StepReport report_;
};

}  // namespace stowage
