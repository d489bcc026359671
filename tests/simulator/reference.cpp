#include "tests/simulator/reference.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/simulator/reference_order.h"
#include "tests/simulator/reference_pool.h"

namespace stowage::reference {
namespace {

using Int = std::int64_t;

struct Copy {
  Int bytes;
  std::function<bool()> may_start;
  std::function<void()> ended;
  bool pageable = false;
  Int usable = 0;  // from when on its host memory is there
};

struct Lane {
  Link link;
  Int streams;
  std::deque<Copy> copies;  // the first of them is running where `running_until` is there
  std::optional<Int> running_until;
  std::optional<Int> previous_end;

  static Int at_rate(Int bytes, Rate rate) {
    const __int128 scaled = static_cast<__int128>(bytes) * 1'000'000'000;
    return static_cast<Int>((scaled + rate.bytes_per_second - 1) / rate.bytes_per_second);
  }
  // Along the curve from point to point; the way to the next is a straight line.
  Int transfer(Int bytes) const {
    Int from = 0, time = 0;
    for (const CurvePoint& point : link.curve) {
      const Int to = point.bytes.value, then = at_rate(to, point.rate);
      if (bytes < to && from == 0) return at_rate(bytes, point.rate);
      if (bytes < to) {
        const __int128 rise = static_cast<__int128>(then - time) * (bytes - from);
        return time + static_cast<Int>((rise + (to - from) - 1) / (to - from));
      }
      from = to;
      time = then;
    }
    return time + at_rate(bytes - from, link.rate);
  }
  Int length(const Copy& copy, Int now, Rate pageable) const {
    const bool pays_latency = streams == 1 || !previous_end || now > *previous_end;
    const Int moving =
        copy.pageable ? std::max(transfer(copy.bytes), at_rate(copy.bytes, pageable)) : transfer(copy.bytes);
    return moving + (pays_latency ? link.latency.value : 0);
  }
  // Nothing but the host thread, or memory that is being pinned, keeps the first of the copies.
  bool could_start() const { return !running_until && !copies.empty() && copies.front().may_start(); }
  bool runs_pageable() const { return running_until && copies.front().pageable; }
};

// Bytes over time: what is added and taken away at each instant.
struct Memory {
  std::map<Int, Int> changes;

  // Frees come before allocations, so an instant counts as what is left after all of its changes.
  Int peak() const {
    Int bytes = 0, most = 0;
    for (const auto& [instant, change] : changes) most = std::max(most, bytes += change);
    return most;
  }
};

class Simulation {
 public:
  Simulation(const FixedCosts& fixed, Order order, const Machine& machine, const TransferSettings& transfer)
      : fixed_(fixed),
        blocks_(std::move(order.blocks)),
        steps_(std::move(order.steps)),
        uses_(std::move(order.uses)),
        restores_(std::move(order.restores)),
        states_(std::move(order.states)),
        step_settings_(order.step),
        prefetch_(transfer.prefetch),
        h2d_{machine.links.h2d, transfer.h2d_streams, {}, {}, {}},
        d2h_{machine.links.d2h, transfer.d2h_streams, {}, {}, {}},
        pageable_(machine.links.pageable),
        pool_(machine.host, transfer),
        device_margin_(machine.host.device_margin) {
    if (machine.disk) read_.link = machine.disk->read, write_.link = machine.disk->write;
    if (transfer.disk_over) choose_leaving(restores_, transfer.disk_over->value);
  }

  Answer run() {
    start();
    for (std::optional<Int> next = now_; next; next = next_instant()) {
      now_ = *next;
      while (something_happens()) continue;
    }
    for (const Lane* lane : {&h2d_, &d2h_, &read_, &write_})
      if (step_ < steps_.size() || !lane->copies.empty())
        throw std::logic_error("the reference waits for itself");
    Answer answer;
    answer.step_ns = now_;
    for (const Step& step : steps_) answer.compute_ns += step.length;
    answer.stall_ns = answer.step_ns - answer.compute_ns;
    answer.peak_bytes = device_.peak();
    answer.host_activation_peak_bytes = host_.peak();
    answer.host_pinned_peak_bytes = pinned_.peak();
    answer.disk_peak_bytes = disk_.peak();
    if (device_margin_ && pool_.held() > 0)
      answer.pinned_on_device_bytes = pool_.held() + device_margin_->value;
    return answer;
  }

 private:
  using Addresses = std::vector<std::pair<Int, Int>>;

  void device(Int bytes) { device_.changes[now_] += bytes; }
  void host(Int bytes) { host_.changes[now_] += bytes; }
  void pinned(Int bytes) { pinned_.changes[now_] += bytes; }
  void disk(Int bytes) { disk_.changes[now_] += bytes; }

  // At one instant what ends comes first; then copies, and those that take no time are over before anything
  // else begins; then a pageable copy; then compute.
  bool something_happens() {
    if (end(h2d_) || end(d2h_) || end(read_) || end(write_) || end_compute()) return true;
    if (prefetch_ == 0 && !running_until_ && step_ < steps_.size()) issue_for(step_);
    if (begin(h2d_) || begin(d2h_) || begin(read_) || begin(write_)) return true;
    return begin_pageable() || begin_compute();
  }

  // X_i.
  Int x(int i) const {
    return i == static_cast<int>(blocks_.size()) ? fixed_.output.value : blocks_[i].profile.sizes.input.value;
  }
  // Gradient of X_i; of the first states, what later ones have in the same memory; and the same of gradients.
  Int gradient(int i) const {
    if (i == 0 || i == static_cast<int>(blocks_.size())) return i == 0 ? 0 : fixed_.output.value;
    const BlockSizes& sizes = blocks_[i].profile.sizes;
    return sizes.input_gradient.value_or(sizes.input).value;
  }
  Int handed_on(int i) const { return blocks_[i].profile.sizes.handed_on.value; }
  Int handed_on_gradient(int i) const {
    return i == 0 ? 0 : blocks_[i].profile.sizes.handed_on_gradient.value;
  }
  // What of its gradients a backward makes only as it ends.
  Int late(int i) const {
    const BlockSizes& sizes = blocks_[i].profile.sizes;
    return std::min(sizes.backward_relief.value, sizes.gradient.value + gradient(i) - handed_on_gradient(i));
  }

  // States have addresses, and count together: two of them that have the same bytes have them once.
  void hold_state(int i) {
    const Int before = held_bytes();
    Addresses& own = addresses_[i];
    own.clear();
    Int kept = i > 0 ? handed_on(i - 1) : 0;
    const Int fresh = x(i) - kept;
    if (i > 0)
      for (const auto& [begin, end] : addresses_[i - 1]) {
        if (const Int length = std::min(end - begin, kept); length > 0)
          own.push_back({begin, begin + length});
        kept -= std::min(end - begin, kept);
      }
    own.push_back({next_address_, next_address_ + fresh});
    next_address_ += fresh;
    held_.insert(i);
    device(held_bytes() - before);
  }
  void drop_state(int i) {
    const Int before = held_bytes();
    held_.erase(i);
    device(held_bytes() - before);
  }
  Int held_bytes() const {
    Addresses all;
    for (int i : held_) all.insert(all.end(), addresses_.at(i).begin(), addresses_.at(i).end());
    std::sort(all.begin(), all.end());
    Int bytes = 0, reached = 0;
    for (const auto& [begin, end] : all) {
      bytes += std::max<Int>(0, end - std::max(begin, reached));
      reached = std::max(reached, end);
    }
    return bytes;
  }

  // S_i, or what of it the recomputation makes.
  Int saved(int i) const { return saved(i, false) + saved(i, true); }
  Int saved(int i, bool again) const {
    Int sum = 0;
    for (const Tensor& tensor : blocks_[i].saved)
      if (tensor.again == again) sum += tensor.bytes;
    return sum;
  }
  bool is_inside(int i) const { return blocks_[i].recomputed && !blocks_[i].first_of_segment; }

  // Of one step; where layers stream, each may need less than its block.
  Int workspace(const Step& step) const {
    const BlockSizes& sizes = blocks_[step.block].profile.sizes;
    const Int whole = step.kind == Kind::backward ? sizes.backward_workspace.value : forward_workspace(step);
    if (step.starts && step.ends) return whole;
    const std::optional<Bytes> own =
        step.layer < 0 ? sizes.rest_workspace : blocks_[step.block].profile.layers[step.layer].workspace;
    return std::min(whole, own.value_or(Bytes{whole}).value);
  }
  Int forward_workspace(const Step& step) const {
    const Block& block = blocks_[step.block];
    const BlockSizes& sizes = block.profile.sizes;
    const auto of_scope = [&](const ByScope<Bytes>& figures, Bytes otherwise) {
      return block.scope ? figures[static_cast<std::size_t>(*block.scope)].value_or(otherwise).value
                         : otherwise.value;
    };
    if (step.kind == Kind::recompute) return of_scope(sizes.scope_workspace, sizes.forward_workspace);
    if (!block.recomputed) return sizes.forward_workspace.value;
    return of_scope(sizes.scope_dropped_workspace, sizes.dropped_workspace.value_or(sizes.forward_workspace));
  }
  // The block's output, as a recomputation makes it once more.
  Int output_again(int i) const {
    const Block& block = blocks_[i];
    const bool counted =
        block.scope && block.profile.sizes.scope_workspace[static_cast<std::size_t>(*block.scope)];
    return counted ? 0 : x(i + 1) - handed_on(i);
  }

  void start() {
    device(fixed_.resident.value);
    hold_state(0);
    if (step_settings_.optimizer == OptimizerPlace::device)
      device(fixed_.optimizer_state.value);
    else if (step_settings_.optimizer == OptimizerPlace::disk)
      disk(fixed_.optimizer_state.value);
    else
      keep(fixed_.optimizer_state.value);
    for (const Block& block : blocks_) {
      device(block.profile.sizes.weight.value - block.away());
      keep(block.away());
    }
    issue_loads(0, prefetch_);
  }

  // How many of these belong to earlier passes, and how many to this one or earlier.
  template <class Things>
  static std::pair<Int, Int> of_pass(const Things& things, int pass) {
    std::pair<Int, Int> counts;
    for (const auto& thing : things) {
      counts.first += thing.pass < pass;
      counts.second += thing.pass <= pass;
    }
    return counts;
  }

  // The first `count` loads of a pass, as far as they are not issued yet.
  void issue_loads(int pass, Int count) {
    const auto [before, all] = of_pass(uses_, pass);
    for (; loads_issued_ < std::min(before + count, all); ++loads_issued_) {
      Use& use = uses_[loads_issued_];
      Use* before = nullptr;  // the use whose store brings these weights to the host
      for (Int earlier = 0; earlier < loads_issued_; ++earlier)
        if (blocks_[use.block].two_way && uses_[earlier].block == use.block) before = &uses_[earlier];
      device(use.bytes);
      h2d_.copies.push_back(
          {use.bytes, [before] { return !before || before->stored; }, [&use] { use.loaded = true; }, {}, {}});
    }
  }

  void issue_restores(int pass, Int count) {
    const auto [before, all] = of_pass(restores_, pass);
    for (; restores_issued_ < std::min(before + count, all); ++restores_issued_)
      for (Traveller& tensor : restores_[restores_issued_].tensors) {
        device(tensor.bytes);
        h2d_.copies.push_back({tensor.bytes, [&tensor] { return tensor.back_on_host(); },
                               [this, &tensor] {
                                 tensor.restored = true;
                                 host(-tensor.bytes);
                                 if (!tensor.pageable) pinned(-pool_.size(tensor.bytes));
                               },
                               tensor.pageable, 0});
      }
  }

  // Reads of the first `count` restores of a pass.
  void issue_reads(int pass, Int count) {
    const auto [before, all] = of_pass(restores_, pass);
    for (; reads_issued_ < std::min(before + count, all); ++reads_issued_)
      for (Traveller& tensor : restores_[reads_issued_].tensors) {
        if (!tensor.leaves) continue;
        host(tensor.bytes);
        pinned(pool_.size(tensor.bytes));
        read_.copies.push_back({tensor.bytes, [&tensor] { return tensor.written; },
                                [this, &tensor] {
                                  tensor.read = true;
                                  disk(-tensor.bytes);
                                },
                                false, 0});
      }
  }

  void issue_state_reads(Int count) {
    if (step_settings_.optimizer != OptimizerPlace::disk) return;
    for (; state_reads_issued_ < std::min<Int>(count, states_.size()); ++state_reads_issued_) {
      StateLoad& state = states_[state_reads_issued_];
      pinned(pool_.size(state.bytes));
      read_.copies.push_back({state.bytes, [] { return true; }, [&state] { state.read = true; }, {}, {}});
    }
  }

  void issue_states(Int count) {
    for (; states_issued_ < std::min<Int>(count, states_.size()); ++states_issued_) {
      StateLoad& state = states_[states_issued_];
      device(state.bytes);
      const bool from_disk = step_settings_.optimizer == OptimizerPlace::disk;
      h2d_.copies.push_back({state.bytes,
                             [&state, from_disk] { return !from_disk || state.read; },
                             [this, &state, from_disk] {
                               state.loaded = true;
                               if (from_disk) pinned(-pool_.size(state.bytes));
                             },
                             {},
                             {}});
    }
  }

  // What is issued when step `s` begins (or, without prefetch, is next).
  void issue_for(std::size_t s) {
    const int pass = steps_[s].pass;
    if (steps_[s].kind == Kind::prologue) issue_loads(pass, prefetch_);
    for (Int k = 0; k < static_cast<Int>(uses_.size()); ++k)
      if (uses_[k].first_step == s) issue_loads(pass, k - of_pass(uses_, pass).first + prefetch_ + 1);
    for (Int k = 0; k < static_cast<Int>(restores_.size()); ++k)
      if (restores_[k].step == s) {
        issue_restores(pass, k - of_pass(restores_, pass).first + prefetch_ + 1);
        issue_reads(pass, k - of_pass(restores_, pass).first + 2 * prefetch_ + 1);
      }
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k].step == s) {
        issue_states(static_cast<Int>(k) + prefetch_ + 1);
        issue_state_reads(static_cast<Int>(k) + 2 * prefetch_ + 1);
      }
    if (steps_[s].kind == Kind::epilogue) {
      issue_restores(pass, prefetch_);
      issue_reads(pass, 2 * prefetch_);
    }
    if (steps_[s].kind == Kind::backward && steps_[s].block == 0 && steps_[s].starts && in_last_pass(s)) {
      issue_states(prefetch_);
      issue_state_reads(2 * prefetch_);
    }
  }

  bool in_last_pass(std::size_t s) const { return steps_[s].pass + 1 == step_settings_.accumulate; }

  bool all_arrived(std::size_t s) const {
    if (steps_[s].kind == Kind::optimizer && gradients_under_way_ > 0) return false;
    for (const StateLoad& state : states_)
      if (state.step == s && !state.loaded) return false;
    for (const Use& use : uses_)
      if (use.first_step == s && !use.loaded) return false;
    for (const Restore& restore : restores_)
      for (const Traveller& tensor : restore.tensors)
        if (restore.step == s && !tensor.restored) return false;
    return true;
  }

  bool begin_compute() {
    if (running_until_ || step_ == steps_.size()) return false;
    if (!all_arrived(step_) || !host_is_free()) return false;
    issue_for(step_);
    allocate(steps_[step_]);
    running_until_ = now_ + steps_[step_].length;
    return true;
  }

  bool end_compute() {
    if (!running_until_ || *running_until_ != now_) return false;
    free(steps_[step_]);
    end_uses(step_);
    const Step& step = steps_[step_];
    if (step.kind == Kind::forward && step.ends) send(step);
    if (step.kind == Kind::backward && step.ends) send_gradient(step_);
    if (step.kind == Kind::optimizer) end_update(step_);
    running_until_.reset();
    ++step_;
    return true;
  }

  void allocate(const Step& step) {
    const int i = step.block;
    if (step.kind == Kind::prologue && step.pass > 0) hold_state(0);
    if (step.kind == Kind::forward || step.kind == Kind::recompute || step.kind == Kind::backward)
      device(workspace(step));
    if (step.kind == Kind::optimizer || !step.starts) return;
    const BlockSizes& sizes = blocks_[i].profile.sizes;
    if (step.kind == Kind::forward) {
      hold_state(i + 1);
      device(saved(i, false) + blocks_[i].part_input());
    }
    if (step.kind == Kind::epilogue)
      device(fixed_.epilogue_bytes.value + x(static_cast<int>(blocks_.size())));
    if (step.kind == Kind::recompute) device(saved(i, true) + output_again(i));
    if (step.kind == Kind::backward)
      device(sizes.gradient.value + gradient(i) - handed_on_gradient(i) - late(i));
  }

  void free(const Step& step) {
    const int i = step.block;
    if (step.kind == Kind::forward || step.kind == Kind::recompute || step.kind == Kind::backward)
      device(-workspace(step));
    if (!step.ends) return;
    if (step.kind == Kind::forward && is_inside(i)) drop_state(i);
    if (step.kind == Kind::epilogue) {
      device(-fixed_.epilogue_bytes.value);
      drop_state(static_cast<int>(blocks_.size()));
    }
    if (step.kind == Kind::recompute && blocks_[i].last_of_segment) device(-output_again(i));
    if (step.kind == Kind::backward) {
      device(late(i) - saved(i) - blocks_[i].part_input() - gradient(i + 1) + handed_on_gradient(i));
      if (blocks_[i].sends_input)
        device(-x(i));  // as it came back
      else if (is_inside(i))
        device(-x(i) + handed_on(i - 1));  // as it was made again
      else
        drop_state(i);
    }
    if (step.kind == Kind::backward && step.pass > 0) device(-blocks_[i].profile.sizes.gradient.value);
  }

  void end_uses(std::size_t s) {
    for (Use& use : uses_) {
      if (use.last_step != s) continue;
      if (!blocks_[use.block].two_way) {
        device(-use.bytes);
        continue;
      }
      to_host(use.bytes, {}, [this, &use] {
        use.stored = true;
        device(-use.bytes);
      });
    }
  }

  // Where a store brings something, and from when on it may.
  struct Place {
    bool pageable = false;
    Int usable = 0;
  };
  void to_host(Int bytes, Place place, std::function<void()> ended) {
    d2h_.copies.push_back({bytes, [] { return true; }, std::move(ended), place.pageable, place.usable});
  }
  // In pinned memory throughout.
  void keep(Int bytes) {
    pinned(pool_.size(bytes));
    pool_.keep(bytes);
  }

  void send(const Step& step) {
    for (Restore& restore : restores_) {
      if (restore.block != step.block || restore.pass != step.pass) continue;
      for (Traveller& tensor : restore.tensors) {
        const bool is_state = blocks_[step.block].sends_input && &tensor == &restore.tensors.front();
        host(tensor.bytes);
        tensor.pageable = !pool_.ask(tensor.bytes);
        to_host(tensor.bytes, {tensor.pageable, pin(tensor.bytes, tensor.pageable)},
                [this, &tensor, state = is_state ? std::optional(step.block) : std::nullopt] {
                  tensor.stored = true;
                  if (state)
                    drop_state(*state);
                  else
                    device(-tensor.bytes);
                });
        if (tensor.leaves) leave(tensor);
      }
    }
  }

  // On to the disk, as soon as it is stored.
  void leave(Traveller& tensor) {
    disk(tensor.bytes);
    write_.copies.push_back({tensor.bytes, [&tensor] { return tensor.stored; },
                             [this, &tensor] {
                               tensor.written = true;
                               host(-tensor.bytes);
                               pinned(-pool_.size(tensor.bytes));
                             },
                             false, 0});
  }

  // From when on a buffer that has been granted may be used.
  Int pin(Int bytes, bool pageable) {
    if (pageable || bytes == 0) return 0;
    pinned(pool_.size(bytes));
    held_until_ = std::max(held_until_, now_) + pool_.pinning(bytes);
    releases_.insert(held_until_);
    return held_until_;
  }

  // Of the last pass, to an optimizer on the host.
  void send_gradient(std::size_t s) {
    const Int bytes = blocks_[steps_[s].block].profile.sizes.gradient.value;
    if (step_settings_.optimizer != OptimizerPlace::host || bytes == 0 || !in_last_pass(s)) return;
    ++gradients_under_way_;
    pinned(bytes);
    to_host(bytes, {}, [this, bytes] {
      --gradients_under_way_;
      device(-bytes);
    });
  }

  void end_update(std::size_t s) {
    for (StateLoad& state : states_) {
      if (state.step != s) continue;
      to_host(state.bytes, {}, [this, &state] {
        device(-state.bytes);
        state.stored = true;
      });
      if (step_settings_.optimizer != OptimizerPlace::disk) continue;
      pinned(pool_.size(state.bytes));
      write_.copies.push_back({state.bytes,
                               [&state] { return state.stored; },
                               [this, &state] { pinned(-pool_.size(state.bytes)); },
                               {},
                               {}});
    }
    if (s + 1 < steps_.size()) return;
    for (const Block& block : blocks_) {
      const Int bytes = block.profile.sizes.gradient.value;
      if (step_settings_.optimizer != OptimizerPlace::host)
        device(-bytes);
      else
        pinned(-bytes);
      if (step_settings_.optimizer == OptimizerPlace::host && bytes > 0 && !block.two_way)
        h2d_.copies.push_back({bytes, [] { return true; }, [] {}, {}, {}});
    }
  }

  bool end(Lane& lane) {
    if (lane.running_until != now_) return false;
    lane.copies.front().ended();
    lane.copies.pop_front();
    lane.running_until.reset();
    lane.previous_end = now_;
    return true;
  }
  bool begin(Lane& lane) {
    if (!lane.could_start() || lane.copies.front().pageable || lane.copies.front().usable > now_)
      return false;
    start_copy(lane);
    return true;
  }
  void start_copy(Lane& lane) {
    lane.running_until = now_ + lane.length(lane.copies.front(), now_, pageable_);
  }

  // The host thread launches compute, copies what is pageable, and pins.
  bool host_is_free() const { return now_ >= held_until_ && !h2d_.runs_pageable() && !d2h_.runs_pageable(); }
  // Pageable copies queue for the host thread.
  bool begin_pageable() {
    for (Lane* lane : {&h2d_, &d2h_})
      if (lane->could_start() && lane->copies.front().pageable &&
          std::find(queue_.begin(), queue_.end(), lane) == queue_.end())
        queue_.push_back(lane);
    if (queue_.empty() || running_until_ || !host_is_free()) return false;
    start_copy(*queue_.front());
    queue_.pop_front();
    return true;
  }

  std::optional<Int> next_instant() const {
    std::optional<Int> next;
    for (const auto& end :
         {running_until_, h2d_.running_until, d2h_.running_until, read_.running_until, write_.running_until})
      if (end && (!next || *end < *next)) next = end;
    const auto release = releases_.upper_bound(now_);
    if (release != releases_.end() && (!next || *release < *next)) next = *release;
    return next;
  }

  FixedCosts fixed_;
  std::vector<Block> blocks_;
  std::vector<Step> steps_;
  std::vector<Use> uses_;
  std::vector<Restore> restores_;
  std::vector<StateLoad> states_;
  StepSettings step_settings_;
  Int prefetch_;
  Lane h2d_, d2h_;
  Lane read_{{}, 2, {}, {}, {}}, write_{{}, 2, {}, {}, {}};  // of the disk, whose queue is deep
  Rate pageable_;
  Pool pool_;
  std::optional<Bytes> device_margin_;
  Int held_until_ = 0;                  // the host thread, by pinning
  std::map<int, Addresses> addresses_;  // of the states of a pass, as far as they were made
  std::set<int> held_;
  Int next_address_ = 0;
  std::set<Int> releases_;  // when it lets go of a copy, or of compute
  std::deque<Lane*> queue_;
  Memory device_, host_, pinned_, disk_;
  Int now_ = 0;
  std::size_t step_ = 0;  // that runs, or is next on the compute lane
  std::optional<Int> running_until_;
  Int reads_issued_ = 0, state_reads_issued_ = 0;
  Int loads_issued_ = 0, restores_issued_ = 0, states_issued_ = 0, gradients_under_way_ = 0;
};

void check(const Machine& machine) {
  if (machine.arena != ArenaKind::ideal || !machine.links.undisturbed())
    throw std::invalid_argument("the reference knows the ideal arena and undisturbed links alone");
}

}  // namespace

Answer simulate(const Profile& profile, const Machine& machine, const Settings& settings) {
  check(machine);
  return Simulation(profile.fixed, order_of(profile, settings), machine, settings.transfer).run();
}

Answer simulate(const Profile& profile, const Machine& machine, const Plan& plan) {
  check(machine);
  return Simulation(profile.fixed, order_of(profile, plan), machine, plan.transfer).run();
}

}  // namespace stowage::reference
