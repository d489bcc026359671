#include "tuner/free/treatment.h"

#include <algorithm>
#include <limits>

#include "plan/pinned_size.h"
#include "plan/workspaces.h"

namespace stowage {
namespace {

// What takes no time is over before memory is counted. Where nothing takes time, nothing is.
constexpr Bytes not_counted{std::numeric_limits<std::int64_t>::min() / 4};

void raise(Bytes& highest, Nanos duration, Bytes level) {
  if (duration > Nanos{}) highest = std::max(highest, level);
}

constexpr std::size_t few = 4;  // tensors, of which each choice is a way to travel

// All choices of these tensors, but for those that are the same in figures.
std::vector<Travel> choices_of(const std::vector<Travel>& tensors) {
  std::vector<Travel> choices{{}};
  for (const Travel& tensor : tensors) {
    const std::size_t without = choices.size();
    for (std::size_t i = 0; i < without; ++i) {
      Travel with = choices[i];
      with.bytes += tensor.bytes;
      with.pinned += tensor.pinned;
      with.storages.insert(with.storages.end(), tensor.storages.begin(), tensor.storages.end());
      with.input = with.input || tensor.input;
      const auto same = [&](const Travel& other) {
        return other.bytes == with.bytes && other.pinned == with.pinned;
      };
      if (std::none_of(choices.begin(), choices.end(), same)) choices.push_back(std::move(with));
    }
  }
  choices.erase(choices.begin());  // nothing
  return choices;
}

class TreatmentLister {
 public:
  TreatmentLister(const BlockTable& table, Bytes room, bool gradients_stay, PinnedRounding rounding)
      : table_(table),
        room_(room),
        gradients_stay_(gradients_stay),
        rounding_(rounding),
        gradients_(table.size() + 1),
        saved_(table.size()),
        weights_(table.size()) {
    for (std::uint32_t i = table.size(); i-- > 0;) {
      if (table.layers.empty()) weights_[i] = table.rows[i].sizes.weight;
      const Bytes own = table.rows[i].sizes.gradient;
      gradients_[i] = gradients_stay ? gradients_[i + 1] + own : own;
      for (const SavedStorage& storage : table.storages_of(i)) saved_[i] += storage.bytes;
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
    Treatment nothing = {};
    nothing.begin = begin;
    nothing.end = end;
    nothing.activation = activation;
    nothing.resumes = nothing.peak = nothing.backward_peak = nothing.peak_with_weights = not_counted;
    for (std::uint32_t i = begin; i < end; ++i) nothing.weights += weights_[i];
    return nothing;
  }

  // Tensors of the block that a treatment neither drops nor starts from.
  std::vector<Travel> saved_tensors(std::uint32_t block, std::optional<Scope> dropped) const {
    std::vector<Travel> tensors;
    const auto all = table_.storages_of(block);
    for (std::uint32_t s = 0; s < all.size(); ++s)
      if (all[s].can_travel() && all[s].bytes > Bytes{} && (!dropped || all[s].scope != *dropped))
        tensors.push_back({all[s].bytes, pinned_size(all[s].bytes, rounding_), {s}});
    return tensors;
  }
  void let_travel(Treatment& treatment, const std::vector<Travel>& tensors) const {
    treatment.pinned_by_byte = std::numeric_limits<double>::infinity();
    for (const Travel& tensor : tensors) {
      treatment.movable += tensor.bytes;
      treatment.pinned_by_byte =
          std::min(treatment.pinned_by_byte,
                   static_cast<double>(tensor.pinned.value) / static_cast<double>(tensor.bytes.value));
    }
    if (tensors.size() <= few) treatment.travels = choices_of(tensors);
  }
  // Of X_i, which leaves the device but for what other states hold of it.
  Travel input(std::uint32_t i) const {
    return {X(i), pinned_size(table_.activation(i), rounding_), {}, true};
  }

  Treatment keep(std::uint32_t i) const {
    const BlockRow& row = table_.rows[i];
    Treatment keep = nothing(i, i + 1, Activation::keep);
    keep.held = X(i) + saved_[i];
    let_travel(keep, saved_tensors(i, {}));
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
    Bytes dropped;
    for (const SavedStorage& storage : table_.storages_of(i))
      if (storage.scope == scope) dropped += storage.bytes;
    const std::optional<Bytes>& own_input = row.sizes.scope_input[which];
    Treatment some = nothing(i, i + 1, Activation::recompute);
    some.scope = scope;
    some.held = X(i) + saved_[i] - dropped + own_input.value_or(Bytes{});
    some.cost = *row.scope_forward[which];
    std::vector<Travel> tensors = saved_tensors(i, scope);
    const Travel starts_from =
        own_input ? Travel{*own_input, pinned_size(*own_input, rounding_), {}, true} : input(i);
    if (starts_from.bytes > Bytes{}) tensors.push_back(starts_from);
    let_travel(some, tensors);
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
    segment.held = X(begin);
    if (segment.held > Bytes{}) let_travel(segment, {input(begin)});
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
  const PinnedRounding rounding_;
  std::vector<Bytes> gradients_;        // as each block's backward runs
  std::vector<Bytes> saved_, weights_;  // of each block
};

}  // namespace

std::vector<std::vector<Treatment>> list_treatments(const BlockTable& table, Bytes room, bool gradients_stay,
                                                    PinnedRounding rounding) {
  const TreatmentLister lister(table, room, gradients_stay, rounding);
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
