#include "tuner/sketch.h"

#include <algorithm>
#include <vector>

#include "simulator/evaluator.h"
#include "tuner/copy_lane.h"
#include "tuner/losses.h"

namespace stowage {
class Sketch::Walk {
 public:
  Walk(const CopyCosts& costs, const Machine& machine)
      : costs_(costs), steady_(Evaluator::serves(machine)), losses_(costs.slowdown) {}

  void take(const Shape& shape, const SwapChoice& swap, const SwapUses& uses);
  void choose_streams(const IssueChoice& transfers);
  void leave_streams_open();
  std::optional<Bound> run(std::uint32_t prefetch, const Interest& interest);

 private:
  // A buffer on its way to the host.
  struct Leaving {
    Nanos end;
    Bytes bytes;
  };

  // A copy to the device that has been issued: of a use's weights, or of a parcel.
  struct Coming {
    Nanos issue;
    std::uint32_t index;
    bool weights;
  };

  // When it has come, and the transfers on its lane up to then.
  struct Arrival {
    Nanos end, transfers;
  };

  std::uint32_t parcel_count() const { return static_cast<std::uint32_t>(shape_->parcels.size()); }
  // Parcels come back in the opposite order.
  std::uint32_t returning(std::uint32_t order) const { return parcel_count() - 1 - order; }
  const SwapUse& use(std::uint32_t index) const { return uses_->uses[index]; }

  void issue_use(Nanos at);
  void issue_parcel(Nanos at);
  Nanos begin(std::uint32_t step, Nanos ready);
  void look(const ShapeStep& step, Nanos begin, Nanos latest_begin);
  void pass_end(std::uint32_t step, Nanos end);
  void end_use(std::uint32_t index, Nanos end);
  void send(const Parcel& parcel, Nanos end);
  void receive_all();
  void mark_first_sent();
  void receive(const Parcel& parcel, Nanos issue);
  void clear();

  const CopyCosts& costs_;
  const bool steady_;

  const Shape* shape_ = nullptr;
  const SwapChoice* swap_ = nullptr;
  const SwapUses* uses_ = nullptr;
  std::uint32_t prefetch_ = 0;
  CopyLane h2d_, d2h_;
  Losses losses_;

  std::uint32_t uses_issued_ = 0, uses_begun_ = 0, uses_ended_ = 0;
  std::vector<Arrival> loaded_;               // of the weights of each use
  std::vector<std::optional<Nanos>> stored_;  // when they have been stored after it

  std::uint32_t parcels_sent_ = 0;
  Nanos first_sent_;
  std::uint32_t parcels_issued_ = 0, parcels_needed_ = 0, parcels_gone_ = 0;  // as they return
  std::vector<Arrival> restored_;
  std::vector<Nanos> piece_stored_;

  std::vector<Coming> coming_;
  std::size_t received_ = 0;
  Nanos issued_transfers_, received_transfers_;

  Bytes aboard_;  // weights and parcels
  std::vector<Leaving> leaving_;
  std::size_t left_ = 0;
  Nanos most_delay_;  // how much later anything may be where lanes keep their own pace
  Bound found_;
};

void Sketch::Walk::take(const Shape& shape, const SwapChoice& swap, const SwapUses& uses) {
  shape_ = &shape;
  swap_ = &swap;
  uses_ = &uses;
}

void Sketch::Walk::choose_streams(const IssueChoice& transfers) {
  const auto lane = [&](Nanos latency, bool several) {
    return CopyLane(several && !steady_ ? Nanos{} : latency, several);
  };
  h2d_ = lane(costs_.restore_latency, transfers.several_h2d_streams);
  d2h_ = lane(costs_.store_latency, transfers.several_d2h_streams);
  most_delay_ = {};
}

void Sketch::Walk::leave_streams_open() {
  const auto loads = static_cast<std::int64_t>(uses_->uses.size());
  const auto pieces = static_cast<std::int64_t>(shape_->pieces.size());
  h2d_ = d2h_ = {};
  most_delay_ = costs_.restore_latency * (loads + pieces) +
                costs_.store_latency * ((swap_->two_way() ? loads : 0) + pieces);
}

void Sketch::Walk::clear() {
  uses_issued_ = uses_begun_ = uses_ended_ = 0;
  loaded_.resize(uses_->uses.size());
  stored_.assign(uses_->uses.size(), {});
  parcels_sent_ = parcels_issued_ = parcels_needed_ = parcels_gone_ = 0;
  restored_.resize(shape_->parcels.size());
  piece_stored_.resize(shape_->pieces.size());
  coming_.clear();
  received_ = 0;
  issued_transfers_ = received_transfers_ = {};
  losses_.clear();
  aboard_ = swap_->resident;
  leaving_.clear();
  left_ = 0;
  found_ = {};
}

std::optional<Bound> Sketch::Walk::run(std::uint32_t prefetch, const Interest& interest) {
  constexpr std::uint32_t steps_between_questions = 16;
  clear();
  prefetch_ = prefetch;
  Nanos now;
  losses_.mark({}, {}, {});
  for (std::uint32_t i = 0; i < prefetch_ && i < uses_->uses.size(); ++i) issue_use(now);
  for (std::uint32_t k = 0; k < shape_->steps.size(); ++k) {
    const ShapeStep& step = shape_->steps[k];
    now = begin(k, now);
    aboard_ += step.outgoing;
    look(step, now, interest.longest_step - shape_->compute_from[k]);
    found_.step = now + shape_->compute_from[k];
    if ((k % steps_between_questions == 0 || k == shape_->epilogue) && interest.hopeless(found_)) return {};
    now += step.duration;
    pass_end(k, now);
  }
  receive_all();
  now = std::max(now, losses_.least(shape_->compute, received_transfers_));
  found_.step = std::max({now, h2d_.end(), d2h_.end()});
  return found_;
}

void Sketch::Walk::issue_use(Nanos at) {
  aboard_ += swap_->loaded[use(uses_issued_).block];
  issued_transfers_ += costs_.weights[use(uses_issued_).block].restore;
  coming_.push_back({at, uses_issued_++, true});
}

void Sketch::Walk::issue_parcel(Nanos at) {
  const std::uint32_t parcel = returning(parcels_issued_++);
  aboard_ += shape_->parcels[parcel].bytes;
  issued_transfers_ += shape_->parcels[parcel].restore;
  coming_.push_back({at, parcel, false});
}

// Everything that happens from the step's `ready` to its begin, which is returned. Weights go before
// activations where both are issued at one instant.
Nanos Sketch::Walk::begin(std::uint32_t step, Nanos ready) {
  const auto use_count = static_cast<std::uint32_t>(uses_->uses.size());
  const bool weights = uses_begun_ < use_count && use(uses_begun_).first == step;
  const bool parcel =
      parcels_needed_ < parcel_count() && shape_->parcels[returning(parcels_needed_)].needed == step;
  const Nanos done = shape_->compute - shape_->compute_from[step];
  Nanos begin = ready;
  if (weights || parcel) {
    if (weights && prefetch_ == 0) issue_use(ready);
    if (parcel && prefetch_ == 0) issue_parcel(ready);
    receive_all();
    const auto wait_for = [&](const Arrival& arrival) {
      begin = std::max({begin, arrival.end, losses_.least(done, arrival.transfers)});
    };
    if (weights) wait_for(loaded_[uses_begun_++]);
    if (parcel) wait_for(restored_[returning(parcels_needed_++)]);
    losses_.mark(begin, done, issued_transfers_);
    if (weights && uses_issued_ < use_count && prefetch_ > 0) issue_use(begin);
    if (parcel && parcels_issued_ < parcel_count() && prefetch_ > 0) issue_parcel(begin);
  }
  if (step == shape_->epilogue) losses_.mark(begin, done, issued_transfers_);
  if (step == shape_->epilogue)
    for (std::uint32_t i = 0; i < prefetch_ && i < parcel_count(); ++i) issue_parcel(begin);
  return begin;
}

void Sketch::Walk::look(const ShapeStep& step, Nanos begin, Nanos latest_begin) {
  if (steady_) latest_begin = std::min(latest_begin, begin + most_delay_);
  for (; left_ < leaving_.size() && leaving_[left_].end <= latest_begin; ++left_)
    aboard_ -= leaving_[left_].bytes;
  if (step.duration > Nanos{}) found_.peak = std::max(found_.peak, step.level + aboard_);
}

void Sketch::Walk::pass_end(std::uint32_t step, Nanos end) {
  if (uses_ended_ < uses_->by_last.size() && use(uses_->by_last[uses_ended_]).last == step)
    end_use(uses_->by_last[uses_ended_++], end);
  if (parcels_sent_ < parcel_count() && shape_->parcels[parcels_sent_].sent == step)
    send(shape_->parcels[parcels_sent_++], end);
  if (parcels_gone_ < parcel_count() && shape_->parcels[returning(parcels_gone_)].gone == step)
    aboard_ -= shape_->parcels[returning(parcels_gone_++)].bytes;
}

void Sketch::Walk::end_use(std::uint32_t index, Nanos end) {
  const std::uint32_t block = use(index).block;
  if (!swap_->two_way()) {
    aboard_ -= swap_->loaded[block];
    return;
  }
  stored_[index] = d2h_.copy(end, costs_.weights[block].store);
  leaving_.push_back({*stored_[index], swap_->loaded[block]});
}

void Sketch::Walk::send(const Parcel& parcel, Nanos end) {
  if (parcels_sent_ == 1) first_sent_ = end;
  for (std::uint32_t p = parcel.pieces.begin; p < parcel.pieces.end; ++p) {
    piece_stored_[p] = d2h_.copy(end, shape_->pieces[p].store);
    const Bytes stays = p == parcel.pieces.begin ? parcel.shared : Bytes{};
    leaving_.push_back({piece_stored_[p], shape_->pieces[p].bytes - stays});
  }
}

// As far as is known when the stores end that they wait for. A load may wait for the store of a use to come,
// but what the compute lane needs before that use ends was issued before the load.
void Sketch::Walk::receive_all() {
  for (; received_ < coming_.size(); ++received_) {
    const Coming& coming = coming_[received_];
    if (!coming.weights) {
      if (coming.index == returning(0)) mark_first_sent();
      receive(shape_->parcels[coming.index], coming.issue);
      received_transfers_ += shape_->parcels[coming.index].restore;
      restored_[coming.index] = {h2d_.end(), received_transfers_};
      continue;
    }
    Nanos earliest = coming.issue;
    const std::optional<std::uint32_t>& previous = use(coming.index).previous;
    if (swap_->two_way() && previous) {
      if (!stored_[*previous]) return;
      earliest = std::max(earliest, *stored_[*previous]);
    }
    const Nanos transfer = costs_.weights[use(coming.index).block].restore;
    received_transfers_ += transfer;
    loaded_[coming.index] = {h2d_.copy(earliest, transfer), received_transfers_};
  }
}

// All stores come between the first parcel's sending and the restore of the piece that was stored last, which
// is of the parcel that returns first.
void Sketch::Walk::mark_first_sent() {
  const Nanos between = shape_->parcels.back().restore - shape_->pieces.back().restore;
  losses_.mark_late(first_sent_, shape_->compute - shape_->compute_from[shape_->parcels.front().sent + 1],
                    received_transfers_ + between - shape_->store);
}

void Sketch::Walk::receive(const Parcel& parcel, Nanos issue) {
  const Nanos stored = piece_stored_[parcel.pieces.end - 1];
  if (stored <= std::max(issue, h2d_.end())) {
    h2d_.copy_all(issue, parcel.restore, parcel.pieces.size());
    return;
  }
  for (std::uint32_t p = parcel.pieces.begin; p < parcel.pieces.end; ++p)
    h2d_.copy(std::max(issue, piece_stored_[p]), shape_->pieces[p].restore);
}

Sketch::Sketch(const CopyCosts& costs, const Machine& machine)
    : walk_(std::make_unique<Walk>(costs, machine)) {}
Sketch::~Sketch() = default;

std::optional<Bound> Sketch::of(const Shape& shape, const SwapChoice& swap, const SwapUses& uses,
                                const IssueChoice& transfers, const Interest& interest) {
  walk_->take(shape, swap, uses);
  walk_->choose_streams(transfers);
  return walk_->run(transfers.prefetch, interest);
}

std::optional<Bound> Sketch::whatever_the_streams(const Shape& shape, const SwapChoice& swap,
                                                  const SwapUses& uses, std::uint32_t prefetch,
                                                  const Interest& interest) {
  walk_->take(shape, swap, uses);
  walk_->leave_streams_open();
  return walk_->run(prefetch, interest);
}

}  // namespace stowage
