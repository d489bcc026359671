#include "runtime/graph_piece.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <type_traits>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

namespace ag = torch::autograd;

// Where a gradient leaves the piece.
class Gate final : public ag::Node {
 public:
  Gate(std::shared_ptr<State> gradients, std::size_t index)
      : gradients_(std::move(gradients)), index_(index) {}

  ag::variable_list apply(ag::variable_list&& gradients) override {
    (*gradients_)[index_] = std::move(gradients[0]);
    return {};
  }

 private:
  const std::shared_ptr<State> gradients_;
  const std::size_t index_;
};

// Older than every other node.
class OldestNode final : public ag::Node {
 public:
  OldestNode() : Node(/*sequence_nr=*/0) {}
  ag::variable_list apply(ag::variable_list&&) override { return {}; }
};

// Nodes are held by shared_ptr up to LibTorch 2.13, by intrusive_ptr after it.
template <class Kind, class... Arguments>
auto make_node(Arguments&&... arguments) {
  using Handle = std::decay_t<decltype(std::declval<const at::Tensor&>().grad_fn())>;
  if constexpr (std::is_same_v<Handle, std::shared_ptr<ag::Node>>)
    return Handle(new Kind(std::forward<Arguments>(arguments)...), ag::deleteNode);
  else
    return Handle(c10::make_intrusive<Kind>(std::forward<Arguments>(arguments)...));
}

void run_backward(const ag::edge_list& roots, const ag::variable_list& gradients) {
  ag::Engine::get_default_engine().execute(roots, gradients, /*keep_graph=*/false, /*create_graph=*/false,
                                           /*accumulate_grad=*/true);
}

// What a backward that has failed would have done next still waits in this thread's queue, and holds its
// graph. The queue hands out young nodes first, and drops those whose backward is over.
void empty_queue() {
  const at::Tensor nothing = at::empty({0});
  const auto last = make_node<OldestNode>();
  const auto slot = last->add_input_metadata(nothing);
  run_backward({{last, slot}}, {nothing});
}

}  // namespace

State GraphPiece::enter(const State& inputs, const std::vector<bool>& wanted) {
  input_gradients_->resize(inputs.size());
  State variables;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    at::Tensor variable = inputs[i].detach();
    if (wanted[i]) {
      auto gate = make_node<Gate>(input_gradients_, i);
      const auto slot = gate->add_input_metadata(variable);
      ag::impl::set_gradient_edge(variable, {std::move(gate), slot});
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

State GraphPiece::leave(const State& outputs) {
  State cut;
  for (const at::Tensor& output : outputs) {
    differentiable_.push_back(output.requires_grad());
    edges_.push_back(output.requires_grad() ? ag::impl::gradient_edge(output) : ag::Edge());
    cut.push_back(output.detach());
  }
  return cut;
}

State GraphPiece::backward(const State& output_gradients) {
  if (std::exchange(spent_, true))
    throw DefectError("a block's graph is gone: its backward has been already");
  ag::edge_list roots;
  ag::variable_list gradients;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!differentiable_[i] || !output_gradients[i].defined()) continue;
    roots.push_back(std::move(edges_[i]));
    gradients.push_back(output_gradients[i]);
  }
  edges_.clear();
  if (roots.empty()) return std::exchange(*input_gradients_, {});
  try {
    run_backward(roots, gradients);
  } catch (...) {
    empty_queue();
    throw;
  }
  return std::exchange(*input_gradients_, {});
}

}  // namespace stowage
