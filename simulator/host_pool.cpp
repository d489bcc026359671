#include "simulator/host_pool.h"

#include <algorithm>

#include "simulator/levels.h"
#include "simulator/pace.h"

namespace stowage {

bool pinned_memory_is_short(const Program& program, const Machine& machine) {
  if (program.pinned.any() || !machine.host.pinning.free()) return true;
  Bytes total;
  for (const Buffer& buffer : program.buffers)
    if (is_pinnable(buffer)) raise(total, pinned_size(buffer.bytes, machine.host.pinned_rounding));
  return total > (machine.host.device_margin ? Bytes{} : machine.host.pinned_limit);
}

void HostPool::open(const Program& program, PinnedBuckets& books) {
  program_ = &program;
  books_ = &books;
  first_copy_ = program.lanes[static_cast<int>(Lane::compute)].end;
  held_until_ = {};
  buffers_.assign(program.buffers.size(), {});
  sides_.clear();
  for (StepId copy = first_copy_; copy < program.steps.size(); ++copy)
    sides_.push_back(host_side(program, copy));
  Bytes fixed;
  for (const BufferId id : program.initial)
    if (is_pinnable(program.buffers[id])) raise(fixed, books.rounded(program.buffers[id].bytes));
  books.set_fixed(fixed);
  books.set_limits({program.pinned.buckets, program.pinned.bytes, host_.pinned_limit});
}

// What a copy to the device reads is pending once it is issued: nothing but that copy keeps it.
void HostPool::issue(StepId copy, Nanos now) {
  const std::optional<BufferId>& side = sides_[copy - first_copy_];
  if (!side) return;
  if (fills_host(program_->steps[copy].lane))
    check_out(*side, now);
  else if (buffers_[*side].place == Place::pinned)
    books_->mark_pending(program_->buffers[*side].bytes);
}

void HostPool::check_out(BufferId buffer, Nanos now) {
  BufferState& state = buffers_[buffer];
  const Bytes bytes = program_->buffers[buffer].bytes;
  if (bytes == Bytes{}) return;
  const PinnedSource source = books_->check_out(bytes);
  state = {source == PinnedSource::none ? Place::pageable : Place::pinned, now};
  if (source != PinnedSource::pinned || host_.pinning.free()) return;
  held_until_ = later(std::max(held_until_, now), host_.pinning.time_for(books_->rounded(bytes)));
  state.usable_from = held_until_;
}

void HostPool::pass(StepId step, Edge edge) {
  for (const MemoryEffect& effect : program_->effects_at(step, edge))
    if (!effect.alloc && buffers_[effect.buffer].place == Place::pinned)
      books_->give_back(program_->buffers[effect.buffer].bytes);
}

}  // namespace stowage
