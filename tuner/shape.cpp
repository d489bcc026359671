#include "tuner/shape.h"

#include <algorithm>

namespace stowage {
namespace {

class ShapeBuilder {
 public:
  ShapeBuilder(const BlockTable& table, const CopyCosts& costs, const Plan& plan, Shape& shape)
      : table_(table), costs_(costs), plan_(plan), shape_(shape), n_(table.size()) {}

  void run() {
    list_steps();
    freed_.resize(shape_.steps.size());
    for (std::uint32_t i = 0; i < n_; ++i) place_block(i);
    place_states();
    hold(table_.fixed.epilogue_bytes, shape_.epilogue, shape_.epilogue);
    send_parcels();
    add_up_levels();
    note_floors();
    note_least_step();
  }

 private:
  bool recomputed(std::uint32_t i) const { return plan_.blocks[i].activation == Activation::recompute; }
  bool continues(std::uint32_t i) const {
    return i > 0 && recomputed(i) && plan_.blocks[i].segment == plan_.blocks[i - 1].segment;
  }
  bool ends_segment(std::uint32_t i) const { return recomputed(i) && (i + 1 == n_ || !continues(i + 1)); }
  bool input_travels(std::uint32_t i) const { return i < n_ && plan_.blocks[i].offload_input; }

  std::uint32_t add_step(Nanos duration) {
    shape_.steps.push_back({duration, {}, {}, {}});
    shape_.compute += duration;
    return static_cast<std::uint32_t>(shape_.steps.size() - 1);
  }
  // From `step`'s begin until `last`'s end.
  void hold(Bytes bytes, std::uint32_t step, std::uint32_t last) {
    shape_.steps[step].level += bytes;
    freed_[last] += bytes;
  }

  void list_steps();
  void place_block(std::uint32_t i);
  void place_states();
  void send_parcels();
  void send(std::uint32_t block, std::uint32_t made, std::uint32_t first_piece, Bytes shared = {});
  void add_up_levels();
  void note_floors();
  void note_least_step();

  const BlockTable& table_;
  const CopyCosts& costs_;
  const Plan& plan_;
  Shape& shape_;
  const std::uint32_t n_;
  std::vector<Bytes> freed_;  // at each step's end
};

void ShapeBuilder::list_steps() {
  shape_.blocks.resize(n_);
  add_step(table_.fixed.prologue);
  for (std::uint32_t i = 0; i < n_; ++i) shape_.blocks[i].forward = add_step(table_.rows[i].forward);
  shape_.epilogue = add_step(table_.fixed.epilogue);
  for (std::uint32_t end = n_; end > 0;) {
    std::uint32_t begin = end - 1;
    while (continues(begin)) --begin;
    for (std::uint32_t i = begin; i < end && recomputed(i); ++i)
      shape_.blocks[i].resumes = add_step(table_.rows[i].forward);
    for (std::uint32_t i = end; i-- > begin;) {
      BlockSpan& block = shape_.blocks[i];
      block.backward = add_step(table_.rows[i].backward);
      if (!recomputed(i)) block.resumes = block.backward;
    }
    shape_.backward_runs.push_back({begin, end});
    end = begin;
  }
  add_step(table_.fixed.optimizer);
}

// The rules of device memory, but for weights and for parcels.
void ShapeBuilder::place_block(std::uint32_t i) {
  const BlockSizes& sizes = table_.rows[i].sizes;
  const BlockSpan& block = shape_.blocks[i];
  hold(recomputed(i) ? *sizes.dropped_workspace : sizes.forward_workspace, block.forward, block.forward);
  hold(sizes.backward_workspace - relief_of(table_, i).all(), block.backward, block.backward);
  shape_.steps[block.backward].level += sizes.gradient;

  Bytes saved;
  std::uint32_t next_away = 0;
  const std::vector<std::uint32_t>& away = plan_.blocks[i].offload;
  const std::span<const SavedStorage> storages = table_.storages_of(i);
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (next_away < away.size() && away[next_away] == s)
      ++next_away;
    else
      saved += storages[s].bytes;
  }
  hold(saved, recomputed(i) ? block.resumes : block.forward, block.backward);
  if (!recomputed(i)) return;
  hold(sizes.forward_workspace, block.resumes, block.resumes);
  hold(table_.fresh_output(i), block.resumes,
       ends_segment(i) ? block.resumes : shape_.blocks[i + 1].backward);
}

// States, and their gradients. A part of several states is there as long as one of them is held: for those
// that travel only the end of their forward is certain.
void ShapeBuilder::place_states() {
  const auto made = [&](std::uint32_t state) { return state == 0 ? 0 : shape_.blocks[state - 1].forward; };
  const auto held_until = [&](std::uint32_t state) {
    if (state == n_) return shape_.epilogue;
    const BlockSpan& block = shape_.blocks[state];
    return continues(state) || input_travels(state) ? block.forward : block.backward;
  };
  const StateMemory& states = table_.activations;
  for (std::uint32_t state = 0; state <= n_; ++state)
    if (!input_travels(state)) hold(states.own[state], made(state), held_until(state));
  for (const SharedPart& part : states.shared) {
    std::uint32_t until = 0;
    for (std::uint32_t state = part.first; state <= part.last; ++state)
      until = std::max(until, held_until(state));
    hold(part.bytes, made(part.first), until);
  }
  const auto gradient = [&](std::uint32_t first, std::uint32_t last, Bytes bytes) {
    hold(bytes, first == n_ ? shape_.epilogue : shape_.blocks[first].backward,
         shape_.blocks[last - 1].backward);
  };
  for (std::uint32_t state = 1; state <= n_; ++state) gradient(state, state, table_.gradients.own[state]);
  for (const SharedPart& part : table_.gradients.shared) gradient(part.first, part.last, part.bytes);
}

void ShapeBuilder::send_parcels() {
  for (std::uint32_t i = 0; i < n_; ++i) {
    const auto first_piece = static_cast<std::uint32_t>(shape_.pieces.size());
    if (input_travels(i)) {
      shape_.pieces.push_back(costs_.inputs[i]);
      send(i, i == 0 ? 0 : shape_.blocks[i - 1].forward, first_piece,
           table_.activation(i) - table_.activations.own[i]);
    }
    for (std::uint32_t s : plan_.blocks[i].offload)
      shape_.pieces.push_back(costs_.storages[table_.rows[i].storages.begin + s]);
    if (!plan_.blocks[i].offload.empty()) send(i, shape_.blocks[i].forward, first_piece);
  }
}

void ShapeBuilder::send(std::uint32_t block, std::uint32_t made, std::uint32_t first_piece, Bytes shared) {
  const BlockSpan& span = shape_.blocks[block];
  Parcel parcel{block, made, span.forward, span.resumes, span.backward, {}, {}, {}, {}};
  parcel.pieces = {first_piece, static_cast<std::uint32_t>(shape_.pieces.size())};
  parcel.shared = shared;
  for (std::uint32_t p = first_piece; p < shape_.pieces.size(); ++p) {
    const Cargo& piece = shape_.pieces[p];
    parcel.bytes += piece.bytes;
    parcel.store += piece.store;
    parcel.restore += piece.restore;
    shape_.host += piece.bytes;
    shape_.pinned += piece.pinned;
  }
  shape_.store += parcel.store;
  shape_.restore += parcel.restore;
  shape_.steps[made].outgoing += parcel.outgoing();
  shape_.parcels.push_back(parcel);
}

void ShapeBuilder::add_up_levels() {
  Bytes held = table_.fixed.resident + table_.fixed.optimizer_state;
  for (std::size_t k = 0; k < shape_.steps.size(); ++k) {
    held += shape_.steps[k].level;
    shape_.steps[k].level = shape_.steps[k].floor = held;
    held -= freed_[k];
  }
  shape_.compute_from.resize(shape_.steps.size() + 1);
  for (std::size_t k = shape_.steps.size(); k-- > 0;)
    shape_.compute_from[k] = shape_.compute_from[k + 1] + shape_.steps[k].duration;
}

void ShapeBuilder::note_floors() {
  for (const Parcel& parcel : shape_.parcels) {
    for (std::uint32_t k = parcel.made; k <= parcel.sent; ++k) shape_.steps[k].floor += parcel.outgoing();
    for (std::uint32_t k = parcel.needed; k <= parcel.gone; ++k) shape_.steps[k].floor += parcel.bytes;
  }
  const auto raise = [&](Bytes& floor, std::uint32_t k) {
    if (shape_.steps[k].duration > Nanos{}) floor = std::max(floor, shape_.steps[k].floor);
  };
  const auto last = static_cast<std::uint32_t>(shape_.steps.size() - 1);
  for (std::uint32_t k : {0u, shape_.epilogue, last}) raise(shape_.fixed_floor, k);
  for (BlockSpan& block : shape_.blocks)
    for (std::uint32_t k : {block.forward, block.resumes, block.backward}) raise(block.floor, k);
}

// All compute steps follow one another. So do all stores, from the end of the step that sends the first
// parcel. The last of them is of the parcel that comes back first; its last piece, and after it every other
// parcel, comes back after that store, and the compute from the step that needs the last parcel is left.
// Compute goes on meanwhile, and loses what these copies take from it.
void ShapeBuilder::note_least_step() {
  shape_.least_step = shape_.compute;
  if (shape_.parcels.empty()) return;
  const Parcel& first = shape_.parcels.front();
  const Parcel& last = shape_.parcels.back();
  const Nanos round_trip = shape_.store + shape_.pieces.back().restore + shape_.restore - last.restore;
  const Nanos before = shape_.compute - shape_.compute_from[first.sent + 1];
  shape_.least_step = std::max(shape_.compute + costs_.loss(round_trip),
                               before + round_trip + shape_.compute_from[first.needed]);
}

}  // namespace

Shape::Shape(const BlockTable& table, const CopyCosts& costs, const Plan& plan) {
  ShapeBuilder(table, costs, plan, *this).run();
}

}  // namespace stowage
