// Carries out a program over a chain of blocks, on a device: the second interpreter of programs.
//
// Each block is a graph of its own. Its input is cut from the block before, its gradient is handed over by
// hand, so every step of the program is one call on the compute thread:
//
//   F_i   block.forward; saved tensors stay, or are dropped as they are saved (the first pass of a recomputed
//   block) R_i   the same, with the random state of F_i, and saving B_i   autograd through the block's graph;
//   B_0 goes on through the prologue E     chain.epilogue and its backward O     the optimizer, each
//   parameter where it lives
//
// Copies are submitted at the edges that the program names, and memory is freed at those that it names. The
// loss, the gradients and the random state afterwards equal those of an ordinary LibTorch step, bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "runtime/chain.h"
#include "runtime/device.h"
#include "runtime/learned_order.h"
#include "runtime/model.h"
#include "runtime/optimizer.h"
#include "runtime/saved_tensors.h"
#include "traces/timeline.h"

namespace stowage {

// Exact device bytes around one compute step.
struct StepMemory {
  StepId step;
  Bytes before, peak, after;
};

// What a block took in one of its layers, in a compute step that is not one layer's. Only where compute has
// ended when the device gives it back.
struct LayerUse {
  StepId step;
  std::optional<std::uint32_t> layer;  // absent: before the first of them, whose time is not told
  Nanos time;
  Bytes rise;  // of the device's memory at most, above what lived as the step began
};

struct StepReport {
  double loss = 0;           // summed over micro-batches
  double gradient_norm = 0;  // over all trained parameters
  Timeline timeline;         // source "measured"; the name is left to the caller
  std::vector<StepMemory> memory;
  std::vector<LayerUse> layers;  // each layer of a step once
  PinnedReport pool;             // of host buffers, after the step
};

// Memory ran out. Unless it was in the optimizer step, weights, optimizer and random state are as before, and
// nothing of the step is left: the next one can run. The same holds for whatever run() throws.
struct Shortage {
  StepId step;  // compute step
  Refusal refusal;
};

using StepResult = std::variant<StepReport, Shortage>;

class Executor {
 public:
  // Moves the weights of each block into one storage, and allocates gradients for the outer parameters; their
  // bytes stay on the device, and so do parameters that parts of the chain share. Chain and device must
  // outlive it. Weights that are on the host when it is destroyed are lost: see bring_weights_home().
  Executor(Chain& chain, Device& device);

  // One training step. There is a batch for each micro-batch of the program, on the device; gradients add up
  // over them, as those of several calls of backward() do. Programs may change from step to step: weights
  // that the program expects elsewhere are moved before the clock starts. Throws InputError where the program
  // is not for this chain, or would lose updates of trained weights; MemoryRefused where there is no room for
  // weights before the step; what a block or a copy that fails throws.
  StepResult run(const Program& program, std::span<const State> batches, Optimizer& optimizer);
  StepResult run(const Program& program, const State& batch, Optimizer& optimizer) {
    return run(program, std::span(&batch, 1), optimizer);
  }

  // All parameters that want gradients, in the order of updates.
  std::vector<at::Tensor> trained() const;
  // What a block swap of this block moves.
  Bytes weight_bytes(std::uint32_t block) { return model_.weights(block).bytes(); }
  // Of one of its layers.
  Bytes layer_bytes(std::uint32_t block, std::uint32_t layer) { return model_.weights(block).bytes(layer); }
  // Of the parameters that this block has to itself.
  Bytes gradient_bytes(std::uint32_t block) const { return model_.gradient_bytes(block); }
  // Told of each tensor that is saved; nullptr: nobody.
  void listen(SaveListener* listener) { listener_ = listener; }
  // From now on, a model that keeps far more of a forward than the program says ends the step with an
  // InputError; see excess.h. For programs made from a profile of this model.
  void refuse_excess() { refuse_excess_ = true; }
  // Between steps the weights of swapped blocks have no memory on the device, and must not be touched; this
  // brings them all back. Throws MemoryRefused.
  void bring_weights_home();

 private:
  Device& device_;
  Model model_;
  LayerOrders orders_;
  SaveListener* listener_ = nullptr;
  bool refuse_excess_ = false;
};

}  // namespace stowage
