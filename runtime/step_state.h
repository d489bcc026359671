// What exists of the model during one step, and what each compute step of a program does to it.
//
// It knows neither time nor copies: the program says what is done, in which order.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/program.h"
#include "runtime/block_parts.h"
#include "runtime/chain.h"
#include "runtime/graph_piece.h"
#include "runtime/held_state.h"
#include "runtime/model.h"
#include "runtime/saved_tensors.h"

namespace stowage {

class StepState {
 public:
  // One batch for each micro-batch of the program.
  StepState(Model& model, std::span<const State> batches, SaveListener* listener);

  // Of the next micro-batch; nothing of the one before it is left.
  void prologue();
  // The step's `saves`: whether the graph is kept for the backward, though what a repeated scope saves is
  // dropped; else the conditions are, for recompute().
  void forward(const Step& step);
  void epilogue();
  void recompute(std::uint32_t block);
  void backward(std::uint32_t block);

  double loss() const { return loss_; }  // summed over micro-batches

  // A buffer of the program dies on the device as this compute step ends.
  void release(const Buffer& buffer, const Step& step);
  // The memory that a copy to the host moves; what it held is away from now on.
  std::vector<c10::Storage> send(const Step& copy);
  // How large the pieces are that a copy brings back.
  std::vector<Bytes> sizes(const Step& copy) const;
  void receive(const Step& copy, std::vector<c10::Storage> storages);

 private:
  // One pass through a block, until its backward.
  struct Pass {
    GraphPiece graph;
    std::shared_ptr<SavedTensors> saved;
    std::vector<RepeatedPart> repeated;           // where one scope is recomputed
    std::optional<ForwardConditions> conditions;  // where all of the block is
    std::optional<SaveLedger> saves;
    bool skipped = false;  // what came in goes out
  };

  State run(std::uint32_t block, Pass& pass, SaveHandler& handler);
  void check_weights(std::uint32_t block) const;
  void save(std::uint32_t block, std::optional<Scope> repeated = {});
  const State& batch() const { return batches_[begun_ - 1]; }
  bool is_skipped(std::uint32_t block) const;
  bool is_later() const { return begun_ > 1; }

  Model& model_;
  const std::span<const State> batches_;
  std::size_t begun_ = 0;  // micro-batches
  SaveListener* const listener_;
  GraphPiece prologue_;
  std::vector<Pass> passes_;                 // by block
  std::vector<HeldState> activations_;       // X_0 .. X_n
  std::vector<std::vector<bool>> wanted_;    // by state: which tensors take gradients
  std::vector<State> activation_gradients_;  // of X_0 .. X_n
  double loss_ = 0;
};

}  // namespace stowage
