// Compiles a plan: the compute lane first, then what weights and activations do around it.
#include <algorithm>
#include <optional>
#include <utility>

#include "plan/program.h"
#include "plan/program_builder.h"

namespace stowage {
namespace {

// The compute steps of one block.
struct BlockSteps {
  StepId forward = 0, backward = 0;
  std::optional<StepId> recompute;

  // The first step of the backward pass that needs what the forward pass left.
  StepId resumes() const { return recompute.value_or(backward); }
};

// Compute steps during which a swapped block's weights must be on the device.
struct Use {
  std::uint32_t block;
  StepId first, last;
};

// A buffer that was sent to the host: what took it there and where it lies.
struct Sent {
  CopyId store;
  BufferId host;
  std::optional<std::uint32_t> storage;  // absent: the segment's input
};

class Compiler {
 public:
  Compiler(const BlockTable& table, const Plan& plan)
      : table_(table), plan_(plan), n_(table.size()), steps_(n_), sent_(n_), inputs_(n_ + 1) {}

  Program run() {
    list_compute_steps();
    place_fixed_buffers();
    // Weights before activations: where both are issued at one instant, weights go first.
    place_weights();
    for (std::uint32_t i = 0; i < n_; ++i) place_block(i);
    place_restores();
    return builder_.finish(plan_.transfer);
  }

 private:
  bool recomputed(std::uint32_t i) const { return plan_.blocks[i].activation == Activation::recompute; }
  bool same_segment(std::uint32_t i, std::uint32_t j) const {
    return recomputed(i) && recomputed(j) && plan_.blocks[i].segment == plan_.blocks[j].segment;
  }
  bool starts_segment(std::uint32_t i) const { return recomputed(i) && (i == 0 || !same_segment(i - 1, i)); }
  bool ends_segment(std::uint32_t i) const {
    return recomputed(i) && (i + 1 == n_ || !same_segment(i, i + 1));
  }

  // Step k of a sequence is issued when step k-prefetch begins; the first ones at `start`.
  template <class FirstStep>
  Trigger issue_of(std::size_t k, Trigger start, FirstStep first_step) const {
    const auto ahead = static_cast<std::uint64_t>(plan_.transfer.prefetch);
    if (ahead == 0) return {first_step(k), Edge::ready};
    return k < ahead ? start : Trigger{first_step(k - ahead), Edge::begin};
  }

  // A buffer that lives within one compute step.
  void within(StepId step, BufferKind kind, std::uint32_t block, Bytes bytes) {
    const BufferId id = builder_.buffer({Space::device, kind, block, {}, bytes});
    builder_.alloc(id, {step, Edge::begin});
    builder_.free(id, {step, Edge::end});
  }
  // A buffer that a compute step allocates; who frees it is said elsewhere.
  BufferId made_by(StepId step, BufferKind kind, std::uint32_t block, Bytes bytes) {
    const BufferId id = builder_.buffer({Space::device, kind, block, {}, bytes});
    builder_.alloc(id, {step, Edge::begin});
    return id;
  }

  void list_compute_steps();
  void list_backward();
  void place_fixed_buffers();
  std::vector<Use> uses() const;
  void place_weights();
  void place_block(std::uint32_t i);
  void place_saved(std::uint32_t i);
  void place_activations(std::uint32_t i);
  void place_gradient_of_output(std::uint32_t i);
  void send(std::uint32_t i, std::optional<std::uint32_t> storage, BufferId device, Bytes bytes);
  void place_restores();
  void bring_back(std::uint32_t i, Trigger issue);

  const BlockTable& table_;
  const Plan& plan_;
  const std::uint32_t n_;
  ProgramBuilder builder_;
  std::vector<BlockSteps> steps_;
  StepId epilogue_ = 0, optimizer_ = 0;
  std::vector<std::vector<Sent>> sent_;  // for each block, in the order in which it comes back
  std::vector<BufferId> inputs_;         // X_i as the forward pass makes it
};

void Compiler::list_compute_steps() {
  builder_.compute(StepKind::prologue, {}, table_.fixed.prologue);
  for (std::uint32_t i = 0; i < n_; ++i)
    steps_[i].forward = builder_.compute(StepKind::forward, i, table_.rows[i].forward, !recomputed(i));
  epilogue_ = builder_.compute(StepKind::epilogue, {}, table_.fixed.epilogue);
  list_backward();
  optimizer_ = builder_.compute(StepKind::optimizer, {}, table_.fixed.optimizer);
}

void Compiler::list_backward() {
  for (std::uint32_t end = n_; end > 0;) {
    std::uint32_t begin = end - 1;
    if (recomputed(begin)) {
      while (!starts_segment(begin)) --begin;
      for (std::uint32_t i = begin; i < end; ++i)
        steps_[i].recompute = builder_.compute(StepKind::recompute, i, table_.rows[i].forward);
    }
    for (std::uint32_t i = end; i-- > begin;)
      steps_[i].backward = builder_.compute(StepKind::backward, i, table_.rows[i].backward);
    end = begin;
  }
}

void Compiler::place_fixed_buffers() {
  const FixedCosts& fixed = table_.fixed;
  builder_.initial({Space::device, BufferKind::resident, {}, {}, fixed.resident});
  builder_.initial({Space::device, BufferKind::optimizer_state, {}, {}, fixed.optimizer_state});
  for (std::uint32_t i = 0; i < n_; ++i) {
    const bool away = plan_.blocks[i].weights != Residence::resident;
    const Space home = away ? Space::host : Space::device;
    builder_.initial({home, BufferKind::weights, i, {}, table_.rows[i].sizes.weight});
  }
  within(epilogue_, BufferKind::workspace, n_, fixed.epilogue_bytes);
  inputs_[0] = builder_.initial({Space::device, BufferKind::activation, 0, {}, table_.activation(0)});
}

// In the order in which they begin; two in a row of one block are one.
std::vector<Use> Compiler::uses() const {
  std::vector<Use> uses;
  const auto add = [&](std::uint32_t block, StepId first, StepId last) {
    if (plan_.blocks[block].weights == Residence::resident) return;
    if (!uses.empty() && uses.back().block == block)
      uses.back().last = last;
    else
      uses.push_back({block, first, last});
  };
  for (std::uint32_t i = 0; i < n_; ++i) add(i, steps_[i].forward, steps_[i].forward);
  for (std::uint32_t end = n_; end > 0;) {
    std::uint32_t begin = end - 1;
    while (begin > 0 && same_segment(begin - 1, begin)) --begin;
    for (std::uint32_t i = begin; i < end; ++i) add(i, steps_[i].resumes(), steps_[i].backward);
    end = begin;
  }
  return uses;
}

void Compiler::place_weights() {
  const std::vector<Use> uses = this->uses();
  std::vector<std::optional<CopyId>> stored(n_);  // the last store of each block's weights
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const Use& use = uses[k];
    const Bytes bytes = table_.rows[use.block].sizes.weight;
    const Trigger issue = issue_of(k, Trigger{}, [&](std::size_t j) { return uses[j].first; });
    const CopyId load = builder_.copy({StepKind::load_weights, Lane::h2d, use.block, {}, {}, bytes, issue},
                                      stored[use.block]);
    builder_.wait(use.first, load);
    const BufferId device = builder_.buffer({Space::device, BufferKind::weights, use.block, {}, bytes});
    builder_.alloc_at_issue(device, load);
    if (plan_.blocks[use.block].weights == Residence::h2d) {
      builder_.free(device, {use.last, Edge::end});
      continue;
    }
    const CopyId store =
        builder_.copy({StepKind::store_weights, Lane::d2h, use.block, {}, {}, bytes, {use.last, Edge::end}});
    builder_.free_after(device, store);
    stored[use.block] = store;
  }
}

void Compiler::place_block(std::uint32_t i) {
  const BlockSteps& steps = steps_[i];
  const BlockSizes& sizes = table_.rows[i].sizes;
  within(steps.forward, BufferKind::workspace, i,
         recomputed(i) ? *sizes.dropped_workspace : sizes.forward_workspace);
  if (steps.recompute) within(*steps.recompute, BufferKind::workspace, i, sizes.forward_workspace);
  within(steps.backward, BufferKind::workspace, i, sizes.backward_workspace);
  const BufferId gradient = made_by(steps.backward, BufferKind::gradient, i, sizes.gradient);
  builder_.free(gradient, {optimizer_, Edge::end});
  place_activations(i);
  place_saved(i);
}

void Compiler::place_activations(std::uint32_t i) {
  const BlockSteps& steps = steps_[i];
  const Bytes output = table_.activation(i + 1);
  inputs_[i + 1] = made_by(steps.forward, BufferKind::activation, i + 1, output);
  if (i + 1 == n_) builder_.free(inputs_[n_], {epilogue_, Edge::end});
  if (steps.recompute) {
    const BufferId again = made_by(*steps.recompute, BufferKind::activation, i + 1, output);
    const bool last = ends_segment(i);
    builder_.free(again, {last ? *steps.recompute : steps_[i + 1].backward, Edge::end});
  }
  if (recomputed(i) && !starts_segment(i))
    builder_.free(inputs_[i], {steps.forward, Edge::end});
  else if (plan_.blocks[i].offload_input)
    send(i, {}, inputs_[i], table_.activation(i));
  else
    builder_.free(inputs_[i], {steps.backward, Edge::end});
  place_gradient_of_output(i);
}

void Compiler::place_gradient_of_output(std::uint32_t i) {
  const StepId maker = i + 1 == n_ ? epilogue_ : steps_[i + 1].backward;
  const BufferId id = made_by(maker, BufferKind::activation_gradient, i + 1, table_.activation(i + 1));
  builder_.free(id, {steps_[i].backward, Edge::end});
}

void Compiler::place_saved(std::uint32_t i) {
  const BlockSteps& steps = steps_[i];
  const std::span<const SavedStorage> all = table_.storages_of(i);
  const std::vector<std::uint32_t>& away = plan_.blocks[i].offload;
  auto next_away = away.begin();
  for (std::uint32_t s = 0; s < all.size(); ++s) {
    const BufferId id = builder_.buffer({Space::device, BufferKind::saved, i, s, all[s].bytes});
    builder_.alloc(id, {steps.recompute.value_or(steps.forward), Edge::begin});
    if (next_away != away.end() && *next_away == s) {
      send(i, s, id, all[s].bytes);
      ++next_away;
    } else {
      builder_.free(id, {steps.backward, Edge::end});
    }
  }
}

// At the end of block i's forward.
void Compiler::send(std::uint32_t i, std::optional<std::uint32_t> storage, BufferId device, Bytes bytes) {
  const StepKind kind = storage ? StepKind::store_saved : StepKind::store_input;
  const BufferKind what = storage ? BufferKind::saved : BufferKind::activation;
  const CopyId store =
      builder_.copy({kind, Lane::d2h, i, storage, {}, bytes, {steps_[i].forward, Edge::end}});
  const BufferId host = builder_.buffer({Space::host, what, i, storage, bytes});
  builder_.alloc_at_issue(host, store);
  builder_.free_after(device, store);
  sent_[i].push_back({store, host, storage});
}

void Compiler::place_restores() {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < n_; ++i)
    if (!sent_[i].empty()) blocks.push_back(i);
  const auto needed_by = [&](std::size_t k) { return steps_[blocks[k]].resumes(); };
  std::sort(blocks.begin(), blocks.end(),
            [&](std::uint32_t a, std::uint32_t b) { return steps_[a].resumes() < steps_[b].resumes(); });
  for (std::size_t k = 0; k < blocks.size(); ++k)
    bring_back(blocks[k], issue_of(k, Trigger{epilogue_, Edge::begin}, needed_by));
}

void Compiler::bring_back(std::uint32_t i, Trigger issue) {
  for (const Sent& sent : sent_[i]) {
    const StepKind kind = sent.storage ? StepKind::restore_saved : StepKind::restore_input;
    const BufferKind what = sent.storage ? BufferKind::saved : BufferKind::activation;
    const Bytes bytes = sent.storage ? table_.storages_of(i)[*sent.storage].bytes : table_.activation(i);
    const CopyId restore = builder_.copy({kind, Lane::h2d, i, sent.storage, {}, bytes, issue}, sent.store);
    const BufferId device = builder_.buffer({Space::device, what, i, sent.storage, bytes});
    builder_.alloc_at_issue(device, restore);
    builder_.free(device, {steps_[i].backward, Edge::end});
    builder_.free_after(sent.host, restore);
    builder_.wait(steps_[i].resumes(), restore);
  }
}

}  // namespace

Program compile(const BlockTable& table, const Plan& plan) {
  return Compiler(table, plan).run();
}

}  // namespace stowage
