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
        inputs_(n_ + 1) {}

  void place() {
    layout_.within(only(pass_.epilogue), BufferKind::workspace, n_, table_.fixed.epilogue_bytes);
    inputs_[0] = first_input();
    for (std::uint32_t i = 0; i < n_; ++i) place_block(i);
    place_writes();
    place_restores();
  }

 private:
  // What the recomputed scope of block i starts from, where that is not the block's own input.
  std::optional<Bytes> scope_input(std::uint32_t i) const {
    return of_scope(plan_.blocks[i], table_.rows[i].sizes.scope_input);
  }

  // Of the first pass it is there from the start.
  BufferId first_input() {
    const Bytes bytes = table_.activation(0);
    if (&pass_ != &layout_.order.passes.front())
      return layout_.made_by(only(pass_.prologue), BufferKind::activation, 0, bytes);
    return builder_.initial({Space::device, BufferKind::activation, 0, {}, bytes});
  }

  void place_block(std::uint32_t i);
  void place_input(std::uint32_t i);
  void place_output(std::uint32_t i);
  void place_scope_input(std::uint32_t i);
  void place_gradient_of_output(std::uint32_t i);
  void place_saved(std::uint32_t i);
  void send(std::uint32_t i, std::optional<std::uint32_t> storage, BufferId device, Bytes bytes);
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
  std::vector<BufferId> inputs_;         // X_i as the forward pass makes it
};

void PassPlacement::place_block(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  const BlockRow& row = table_.rows[i];
  const BlockDecision& decision = plan_.blocks[i];
  layout_.within(steps.forward, BufferKind::workspace, i, first_workspace(row, decision));
  if (steps.recompute)
    layout_.within(*steps.recompute, BufferKind::workspace, i, second_workspace(row, decision));
  layout_.within(steps.backward, BufferKind::workspace, i, row.sizes.backward_workspace);
  place_output(i);
  place_input(i);
  place_scope_input(i);
  place_gradient_of_output(i);
  place_saved(i);
}

void PassPlacement::place_output(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  const Bytes output = table_.activation(i + 1);
  inputs_[i + 1] = layout_.made_by(steps.forward, BufferKind::activation, i + 1, output);
  if (i + 1 == n_) builder_.free(inputs_[n_], end_of(only(pass_.epilogue)));
  if (!makes_output_again(table_.rows[i], plan_.blocks[i])) return;
  const BufferId again = layout_.made_by(*steps.recompute, BufferKind::activation, i + 1, output);
  const bool last = ends_segment(plan_, i);
  builder_.free(again, end_of(last ? *steps.recompute : pass_.blocks[i + 1].backward));
}

void PassPlacement::place_input(std::uint32_t i) {
  const BlockSteps& steps = pass_.blocks[i];
  if (recomputed(plan_, i) && !starts_segment(plan_, i))
    builder_.free(inputs_[i], end_of(steps.forward));
  else if (plan_.blocks[i].offload_input && !scope_input(i))
    send(i, {}, inputs_[i], table_.activation(i));
  else
    builder_.free(inputs_[i], end_of(steps.backward));
}

void PassPlacement::place_scope_input(std::uint32_t i) {
  const std::optional<Bytes> bytes = scope_input(i);
  if (!bytes || bytes == Bytes{}) return;  // 0: a tensor of another scope, or the block's input
  const BlockSteps& steps = pass_.blocks[i];
  const BufferId input = layout_.made_by(steps.forward, BufferKind::activation, i, *bytes);
  if (plan_.blocks[i].offload_input)
    send(i, {}, input, *bytes);
  else
    builder_.free(input, end_of(steps.backward));
}

void PassPlacement::place_gradient_of_output(std::uint32_t i) {
  const Range maker = i + 1 == n_ ? only(pass_.epilogue) : pass_.blocks[i + 1].backward;
  const BufferId id =
      layout_.made_by(maker, BufferKind::activation_gradient, i + 1, table_.activation(i + 1));
  builder_.free(id, end_of(pass_.blocks[i].backward));
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
      send(i, s, id, all[s].bytes);
      ++next_away;
    } else {
      builder_.free(id, end_of(steps.backward));
    }
  }
}

// At the end of block i's forward.
void PassPlacement::send(std::uint32_t i, std::optional<std::uint32_t> storage, BufferId device,
                         Bytes bytes) {
  Sent sent{0, 0, storage, bytes};
  sent.store = builder_.copy(sent.out(Lane::d2h, i, end_of(pass_.blocks[i].forward)));
  sent.host = builder_.buffer(sent.in(Space::host, i));
  builder_.alloc_at_issue(sent.host, sent.store);
  builder_.free_after(device, sent.store);
  sent_[i].push_back(sent);
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
