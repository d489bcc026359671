#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "plan/layout.h"
#include "plan/segments.h"
#include "plan/workspaces.h"

namespace stowage {
namespace {

// A buffer that was sent to the host: what took it there and where it lies. On its way back from the disk it
// is as if it had come to the host by that copy.
struct Sent {
  CopyId store;
  BufferId host;
  std::optional<std::uint32_t> storage;  // absent: what a recomputation starts from
  Bytes bytes;
  struct OnDisk {
    CopyId write;
    BufferId buffer;
  };
  std::optional<OnDisk> on_disk = {};  // where it goes on from the host

  Step out(Lane lane, std::uint32_t block, Trigger issue) const {
    return {storage ? StepKind::store_saved : StepKind::store_input, lane, block, storage, {}, bytes, issue};
  }
  Step back(Lane lane, std::uint32_t block, Trigger issue) const {
    return {
        storage ? StepKind::restore_saved : StepKind::restore_input, lane, block, storage, {}, bytes, issue};
  }
  Buffer in(Space space, std::uint32_t block) const {
    return {space, storage ? BufferKind::saved : BufferKind::activation, block, storage, bytes};
  }
};

class PassPlacement {
 public:
  PassPlacement(Layout& layout, const Pass& pass)
      : layout_(layout),
        builder_(layout.builder),
        table_(layout.table),
        plan_(layout.plan),
        pass_(pass),
        n_(table_.size()),
        sent_(n_),
        inputs_(n_ + 1),
        shared_(table_.activations.shared.size()) {}

  void place() {
    layout_.within(only(pass_.epilogue), BufferKind::workspace, n_, table_.fixed.epilogue_bytes);
    place_first_input();
    for (std::uint32_t i = 0; i < n_; ++i) place_block(i);
    place_writes();
    place_restores();
  }

 private:
  // What the recomputed scope of block i starts from, where that is not the block's own input.
  std::optional<Bytes> scope_input(std::uint32_t i) const {
    return of_scope(plan_.blocks[i], table_.rows[i].sizes.scope_input);
  }

  // What is made with X_i: its own bytes, and what later states will have, too.
  template <class Make>
  void make_state(std::uint32_t i, const Make& make) {
    const StateMemory& memory = table_.activations;
    inputs_[i] = make(memory.own[i], 1);
    for (std::size_t p = 0; p < shared_.size(); ++p)
      if (memory.shared[p].first == i) shared_[p] = make(memory.shared[p].bytes, memory.shared[p].holders());
  }
  // X_i is held no longer: `let_go` takes each of its buffers.
  template <class LetGo>
  void drop_state(std::uint32_t i, const LetGo& let_go) {
    let_go(inputs_[i]);
    for (std::size_t p = 0; p < shared_.size(); ++p)
      if (table_.activations.shared[p].is_of(i)) let_go(shared_[p]);
  }
  void drop_state_at(std::uint32_t i, Trigger at) {
    drop_state(i, [&](BufferId buffer) { builder_.free(buffer, at); });
  }

  void place_first_input();
  void place_block(std::uint32_t i);
  void place_workspace(Range steps, std::uint32_t i, Bytes most);
  void place_input(std::uint32_t i);
  void place_output(std::uint32_t i);
  void place_scope_input(std::uint32_t i);
  void place_gradient(std::uint32_t state);
  void place_saved(std::uint32_t i);
  CopyId send(std::uint32_t i, std::optional<std::uint32_t> storage, Bytes bytes);
  void place_writes();
  void write(std::uint32_t i, Sent& sent);
  void place_restores();
  void read(std::uint32_t i, Trigger issue);
  void bring_back(std::uint32_t i, Trigger issue);

  Layout& layout_;
  ProgramBuilder& builder_;
  const BlockTable& table_;
  const Plan& plan_;
  const Pass& pass_;
  const std::uint32_t n_;
  std::vector<std::vector<Sent>> sent_;  // for each block, in the order in which it comes back
  std::vector<BufferId> inputs_;         // X_i as the forward pass makes it, but for what it shares
  std::vector<BufferId> shared_;         // parts of several of them
};

// Of the first pass it is there from the start.
void PassPlacement::place_first_input() {
  const bool first = &pass_ == &layout_.order.passes.front();
  make_state(0, [&](Bytes bytes, std::uint32_t holders) {
    if (!first) return layout_.made_by(only(pass_.prologue), BufferKind::activation, 0, bytes, holders);
    return builder_.initial({Space::device, BufferKind::activation, 0, {}, bytes, holders});
  });
}

void PassPlacement::place_block(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  const BlockRow& row = table_.rows[i];
  const BlockDecision& decision = plan_.blocks[i];
  place_workspace(steps.forward, i, first_workspace(row, decision));
  if (steps.recompute) place_workspace(*steps.recompute, i, second_workspace(row, decision));
  place_workspace(steps.backward, i, row.sizes.backward_workspace);
  place_output(i);
  place_input(i);
  place_scope_input(i);
  place_gradient(i + 1);
  place_saved(i);
}

// Of one step after the other where they are of layers.
void PassPlacement::place_workspace(Range steps, std::uint32_t i, Bytes most) {
  if (steps.size() == 1) return layout_.within(steps, BufferKind::workspace, i, most);
  for (StepId step = steps.begin; step != steps.end; ++step) {
    const Bytes bytes = step_workspace(table_, i, builder_.step(step).layer).value_or(most);
    layout_.within(only(step), BufferKind::workspace, i, std::min(bytes, most));
  }
}

void PassPlacement::place_output(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  make_state(i + 1, [&](Bytes bytes, std::uint32_t holders) {
    return layout_.made_by(steps.forward, BufferKind::activation, i + 1, bytes, holders);
  });
  if (i + 1 == n_) drop_state_at(n_, end_of(only(pass_.epilogue)));
  if (!makes_output_again(table_.rows[i], plan_.blocks[i])) return;
  const BufferId again =
      layout_.made_by(*steps.recompute, BufferKind::activation, i + 1, table_.fresh_output(i));
  const bool last = ends_segment(plan_, i);
  builder_.free(again, end_of(last ? *steps.recompute : pass_.blocks[i + 1].backward));
}

void PassPlacement::place_input(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  if (recomputed(plan_, i) && !starts_segment(plan_, i)) return drop_state_at(i, end_of(steps.forward));
  if (!plan_.blocks[i].offload_input || scope_input(i)) return drop_state_at(i, end_of(steps.backward));
  const CopyId store = send(i, {}, table_.activation(i));
  drop_state(i, [&](BufferId buffer) { builder_.free_after(buffer, store); });
}

void PassPlacement::place_scope_input(std::uint32_t i) {
  const std::optional<Bytes> bytes = scope_input(i);
  if (!bytes || bytes == Bytes{}) return;  // 0: a tensor of another scope, or the block's input
  const BlockSteps& steps = pass_.blocks[i];
  const BufferId input = layout_.made_by(steps.forward, BufferKind::activation, i, *bytes);
  if (plan_.blocks[i].offload_input)
    builder_.free_after(input, send(i, {}, *bytes));
  else
    builder_.free(input, end_of(steps.backward));
}

// Of a state other than X_0: what is made with it, some of it as the maker's backward ends.
void PassPlacement::place_gradient(std::uint32_t state) {
  const Range maker = state == n_ ? only(pass_.epilogue) : pass_.blocks[state].backward;
  Bytes late = state == n_ ? Bytes{} : relief_of(table_, state).of_input_gradient;
  const auto make = [&](std::uint32_t last, Bytes bytes) {
    const BufferKind kind = BufferKind::activation_gradient;
    const Trigger end = end_of(pass_.blocks[last - 1].backward);
    const Bytes comes_late = std::min(bytes, late);
    late -= comes_late;
    builder_.free(layout_.made_by(maker, kind, last, bytes - comes_late), end);
    if (comes_late > Bytes{}) builder_.free(layout_.made_late_by(maker, kind, last, comes_late), end);
  };
  make(state, table_.gradients.own[state]);
  for (const SharedPart& part : table_.gradients.shared)
    if (part.first == state) make(part.last, part.bytes);
}

void PassPlacement::place_saved(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  const std::span<const SavedStorage> all = table_.storages_of(i);
  const BlockDecision& decision = plan_.blocks[i];
  auto next_away = decision.offload.begin();
  for (std::uint32_t s = 0; s < all.size(); ++s) {
    const BufferId id = builder_.buffer({Space::device, BufferKind::saved, i, s, all[s].bytes});
    const bool again = drops(decision, all[s]);
    builder_.alloc(id, begin_of(again ? *steps.recompute : steps.forward));
    if (next_away != decision.offload.end() && *next_away == s) {
      builder_.free_after(id, send(i, s, all[s].bytes));
      ++next_away;
    } else {
      builder_.free(id, end_of(steps.backward));
    }
  }
}

// At the end of block i's forward.
CopyId PassPlacement::send(std::uint32_t i, std::optional<std::uint32_t> storage, Bytes bytes) {
  Sent sent{0, 0, storage, bytes};
  sent.store = builder_.copy(sent.out(Lane::d2h, i, end_of(pass_.blocks[i].forward)));
  sent.host = builder_.buffer(sent.in(Space::host, i));
  builder_.alloc_at_issue(sent.host, sent.store);
  sent_[i].push_back(sent);
  return sent.store;
}

// What was sent last comes back first, so that it stays on the host as long as there is room.
void PassPlacement::place_writes() {
  if (!plan_.transfer.disk_over) return;
  Bytes room = *plan_.transfer.disk_over;
  bool stays = true;
  std::vector<std::pair<std::uint32_t, Sent*>> leaving;
  for (std::uint32_t i = n_; i-- > 0;)
    for (auto sent = sent_[i].rbegin(); sent != sent_[i].rend(); ++sent) {
      stays = stays && sent->bytes <= room;
      if (stays)
        room -= sent->bytes;
      else
        leaving.emplace_back(i, &*sent);
    }
  for (auto each = leaving.rbegin(); each != leaving.rend(); ++each) write(each->first, *each->second);
}

// As soon as it is on the host, where it leaves a bucket for others.
void PassPlacement::write(std::uint32_t i, Sent& sent) {
  const Trigger issue = end_of(pass_.blocks[i].forward);
  const CopyId copy = builder_.copy(sent.out(Lane::disk_write, i, issue), sent.store);
  const BufferId buffer = builder_.buffer(sent.in(Space::disk, i));
  builder_.alloc_at_issue(buffer, copy);
  builder_.free_after(sent.host, copy);
  sent.on_disk = {copy, buffer};
}

// Reads go as far ahead of restores as these go ahead of their use.
void PassPlacement::place_restores() {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < n_; ++i)
    if (!sent_[i].empty()) blocks.push_back(i);
  const auto resumes = [&](std::uint32_t block) { return pass_.blocks[block].resumes(); };
  std::sort(blocks.begin(), blocks.end(),
            [&](std::uint32_t a, std::uint32_t b) { return resumes(a) < resumes(b); });
  const Trigger start = begin_of(only(pass_.epilogue));
  const auto needed_by = [&](std::size_t k) { return resumes(blocks[k]); };
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    read(blocks[k], layout_.issue_of(k, start, needed_by, 2));
    bring_back(blocks[k], layout_.issue_of(k, start, needed_by));
  }
}

void PassPlacement::read(std::uint32_t i, Trigger issue) {
  for (Sent& sent : sent_[i]) {
    if (!sent.on_disk) continue;
    sent.store = builder_.copy(sent.back(Lane::disk_read, i, issue), sent.on_disk->write);
    sent.host = builder_.buffer(sent.in(Space::host, i));
    builder_.alloc_at_issue(sent.host, sent.store);
    builder_.free_after(sent.on_disk->buffer, sent.store);
  }
}

void PassPlacement::bring_back(std::uint32_t i, Trigger issue) {
  const BlockSteps& steps = pass_.blocks[i];
  for (const Sent& sent : sent_[i]) {
    const CopyId restore = builder_.copy(sent.back(Lane::h2d, i, issue), sent.store);
    const BufferId device = builder_.buffer(sent.in(Space::device, i));
    builder_.alloc_at_issue(device, restore);
    builder_.free(device, end_of(steps.backward));
    builder_.free_after(sent.host, restore);
    builder_.wait(steps.resumes(), restore);
  }
}

}  // namespace

void place_pass(Layout& layout, const Pass& pass) {
  PassPlacement(layout, pass).place();
}

}  // namespace stowage
