#include "tuner/free/treatment.h"

#include <algorithm>
#include <limits>

#include "plan/workspaces.h"

namespace stowage {
namespace {

// What takes no time is over before memory is counted. Where nothing takes time, nothing is.
constexpr Bytes not_counted{std::numeric_limits<std::int64_t>::min() / 4};

void raise(Bytes& highest, Nanos duration, Bytes level) {
  if (duration > Nanos{}) highest = std::max(highest, level);
}

class TreatmentLister {
 public:
  TreatmentLister(const BlockTable& table, Bytes room, bool gradients_stay)
      : table_(table),
        room_(room),
        gradients_stay_(gradients_stay),
        gradients_(table.size() + 1),
        saved_(table.size()),
        movable_(table.size()),
        weights_(table.size()) {
    for (std::uint32_t i = table.size(); i-- > 0;) {
      if (table.layers.empty()) weights_[i] = table.rows[i].sizes.weight;
      const Bytes own = table.rows[i].sizes.gradient;
      gradients_[i] = gradients_stay ? gradients_[i + 1] + own : own;
      for (const SavedStorage& storage : table.storages_of(i)) {
        saved_[i] += storage.bytes;
        if (storage.can_travel()) movable_[i] += storage.bytes;
      }
    }
  }

  std::vector<Treatment> ending_with(std::uint32_t block) const {
    std::vector<Treatment> all;
    const auto take = [&](const Treatment& treatment) {
      if (treatment.peak <= room_) all.push_back(treatment);
    };
    take(keep(block));
    for (Scope scope : {Scope::attention, Scope::ffn, Scope::other})
      if (const auto treatment = recompute_scope(block, scope)) take(*treatment);
    for (std::uint32_t begin = block + 1; begin-- > 0;) {
      if (table_.rows[begin].group != table_.rows[block].group) break;
      const Treatment treatment = segment(begin, block + 1);
      if (treatment.peak > room_) break;  // a longer one takes more
      all.push_back(treatment);
    }
    return all;
  }

 private:
  // Of X_i what no other state has: what it shares may be there for another.
  Bytes X(std::uint32_t i) const { return table_.activations.own[i]; }
  // The gradients of a block's output and input and of its parameters, and what its backward works in.
  Bytes backward_need(std::uint32_t i) const {
    return table_.gradient(i + 1) + table_.fresh_gradient(i) + gradients_[i] +
           table_.rows[i].sizes.backward_workspace - relief_of(table_, i).all();
  }
  Bytes gradients_after(std::uint32_t i) const { return gradients_stay_ ? gradients_[i + 1] : Bytes{}; }

  Treatment nothing(std::uint32_t begin, std::uint32_t end, Activation activation) const {
    Treatment nothing{begin, end, activation, {}, {}, {}, not_counted, not_counted, not_counted, not_counted,
                      {},    {}};
    for (std::uint32_t i = begin; i < end; ++i) nothing.weights += weights_[i];
    return nothing;
  }

  Treatment keep(std::uint32_t i) const {
    const BlockRow& row = table_.rows[i];
    Treatment keep = nothing(i, i + 1, Activation::keep);
    keep.held = X(i) + saved_[i];
    keep.movable = movable_[i];
    raise(keep.resumes, row.backward, keep.held + backward_need(i));
    keep.peak = keep.backward_peak = keep.resumes;
    raise(keep.peak, row.forward, keep.held + X(i + 1) + row.sizes.forward_workspace);
    keep.peak_with_weights = keep.peak;
    return keep;
  }

  std::optional<Treatment> recompute_scope(std::uint32_t i, Scope scope) const {
    const BlockRow& row = table_.rows[i];
    const auto which = static_cast<std::size_t>(scope);
    if (!row.scope_forward[which]) return {};
    Bytes dropped, dropped_movable;
    for (const SavedStorage& storage : table_.storages_of(i)) {
      if (storage.scope != scope) continue;
      dropped += storage.bytes;
      if (storage.can_travel()) dropped_movable += storage.bytes;
    }
    const Bytes input = row.sizes.scope_input[which].value_or(Bytes{});
    const Bytes starts_from = row.sizes.scope_input[which].value_or(X(i));
    Treatment some = nothing(i, i + 1, Activation::recompute);
    some.scope = scope;
    some.held = X(i) + saved_[i] - dropped + input;
    some.cost = *row.scope_forward[which];
    some.movable = movable_[i] - dropped_movable + starts_from;
    const Bytes whole = some.held + dropped;
    BlockDecision decision;
    decision.activation = some.activation;
    decision.scope = scope;
    const Bytes output = makes_output_again(row, decision) ? table_.fresh_output(i) : Bytes{};
    raise(some.resumes, some.cost,
          whole + table_.gradient(i + 1) + output + second_workspace(row, decision) + gradients_after(i));
    some.backward_peak = some.resumes;
    raise(some.backward_peak, row.backward, whole + backward_need(i));
    some.peak = some.peak_with_weights = some.backward_peak;
    return some;
  }

  Treatment segment(std::uint32_t begin, std::uint32_t end) const {
    Treatment segment = nothing(begin, end, Activation::recompute);
    segment.held = segment.movable = X(begin);
    Bytes inside = X(begin);
    for (std::uint32_t i = begin; i < end; ++i) {
      const BlockRow& row = table_.rows[i];
      if (i > begin) inside += table_.fresh_output(i - 1);  // as it was made again
      inside += saved_[i];
      segment.cost += row.forward;
      const Bytes input = i > begin ? X(begin) + X(i) : X(begin);
      raise(segment.peak, row.forward, input + X(i + 1) + *row.sizes.dropped_workspace);
      Bytes again = not_counted, backward = not_counted;
      raise(again, row.forward,
            inside + row.sizes.forward_workspace + table_.fresh_output(i) + table_.gradient(end) +
                gradients_after(end - 1));
      raise(backward, row.backward, inside + backward_need(i));
      if (i == begin) segment.resumes = again;
      segment.backward_peak = std::max({segment.backward_peak, again, backward});
      segment.peak_with_weights = std::max(again, backward);  // of the last
    }
    segment.peak = std::max(segment.peak, segment.backward_peak);
    if (end - begin == 1) segment.peak_with_weights = segment.peak;
    return segment;
  }

  const BlockTable& table_;
  const Bytes room_;
  const bool gradients_stay_;
  std::vector<Bytes> gradients_;        // as each block's backward runs
  std::vector<Bytes> saved_, movable_;  // of each block: all, and what may be on the host
  std::vector<Bytes> weights_;
};

}  // namespace

std::vector<std::vector<Treatment>> list_treatments(const BlockTable& table, Bytes room,
                                                    bool gradients_stay) {
  const TreatmentLister lister(table, room, gradients_stay);
  std::vector<std::vector<Treatment>> by_end;
  for (std::uint32_t block = 0; block < table.size(); ++block) by_end.push_back(lister.ending_with(block));
  return by_end;
}

Bytes epilogue_need(const BlockTable& table) {
  Bytes need = not_counted;
  raise(need, table.fixed.epilogue,
        table.fixed.epilogue_bytes + table.activations.own.back() + table.gradient(table.size()));
  return need;
}

}  // namespace stowage
