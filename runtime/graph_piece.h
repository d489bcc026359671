// One piece of a model's autograd graph, cut loose at both ends.
//
//   state in --enter--> variables --forward--> variables --leave--> state out
//   gradients  <--gates--  graph  <--edges--  gradients of the state out
//
// What is kept between the passes are graph nodes alone: neither the piece's inputs nor its outputs, so their
// memory is the caller's to free. Gradients leave through gates exactly as the graph made them, with the
// layout that the piece before would have been given in one whole graph.
#pragma once

#include <torch/csrc/autograd/edge.h>

#include <memory>
#include <vector>

#include "runtime/chain.h"

namespace stowage {

class GraphPiece {
 public:
  // Variables on the same memory as `inputs`. `wanted` says, for each, whether its gradient is wanted.
  State enter(const State& inputs, const std::vector<bool>& wanted);
  // The outputs without their graph.
  State leave(const State& outputs);
  // Which outputs can take a gradient.
  const std::vector<bool>& differentiable() const { return differentiable_; }

  // Runs the graph backwards, and forgets it: a second time is a DefectError. (Nothing of a step that is over
  // holds a graph, so that a caller has nothing to go back through again.) Gradients of parameters go to
  // their grad(). Returns those of the inputs, undefined where there is none. Undefined gradients of outputs
  // are left out. Nothing of the graph is left where it throws what a node has thrown.
  State backward(const State& output_gradients);

 private:
  std::shared_ptr<State> input_gradients_ = std::make_shared<State>();
  std::vector<torch::autograd::Edge> edges_;
  std::vector<bool> differentiable_;
  bool spent_ = false;
};

}  // namespace stowage
