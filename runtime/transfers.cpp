#include "runtime/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr std::array copy_lanes{Lane::h2d, Lane::d2h};

Bytes total(const std::vector<c10::Storage>& storages) {
  Bytes bytes;
  for (const c10::Storage& storage : storages) bytes += Bytes{static_cast<std::int64_t>(storage.nbytes())};
  return bytes;
}

// The pieces lie one after the other on the host.
CopyJob job_of(const Step& step, std::byte* host, const std::vector<c10::Storage>& storages) {
  CopyJob job;
  job.lane = step.lane;
  for (const c10::Storage& storage : storages) {
    const Bytes bytes{static_cast<std::int64_t>(storage.nbytes())};
    job.pieces.push_back(step.lane == Lane::h2d ? CopyPiece{storage.mutable_data(), host, bytes}
                                                : CopyPiece{host, storage.data(), bytes});
    host += bytes.value;
  }
  return job;
}

// Of a step that was broken off: what made it stop is known already.
void end_of(Copy& copy) {
  try {
    copy.finish();
  } catch (const std::exception&) {
  }
}

}  // namespace

Transfers::Transfers(const Program& program, Device& device, Model& model, StepState& state,
                     Recorder& recorder)
    : program_(program),
      device_(device),
      model_(model),
      state_(state),
      recorder_(recorder),
      first_copy_(program.lanes[static_cast<int>(Lane::compute)].end),
      slots_(program.steps.size() - first_copy_),
      host_(program.buffers.size()) {
  for (Lane lane : copy_lanes)
    next_issue_[static_cast<int>(lane)] = next_submit_[static_cast<int>(lane)] =
        next_clear_[static_cast<int>(lane)] = program.first(lane);
}

Transfers::~Transfers() {
  for (Slot& slot : slots_)
    if (slot.copy) end_of(*slot.copy);
}

// Stores go to the device first, since loads wait for them; each as soon as its host memory is pinned.
void Transfers::issue_at(Trigger trigger, Nanos at) {
  if (!reached(Lane::h2d, trigger) && !reached(Lane::d2h, trigger)) return;
  while (reached(Lane::h2d, trigger)) issue(next_issue_[static_cast<int>(Lane::h2d)]++, at);
  submit_issued(Lane::h2d);
  while (reached(Lane::d2h, trigger)) {
    issue(next_issue_[static_cast<int>(Lane::d2h)]++, at);
    submit_issued(Lane::d2h);
  }
  submit_issued(Lane::h2d);
  recorder_.device_bytes(recorder_.now(), device_.memory().live());
  recorder_.host_bytes(recorder_.now(), device_.host_memory().live());
}

bool Transfers::reached(Lane lane, Trigger trigger) const {
  const StepId next = next_issue_[static_cast<int>(lane)];
  return next < program_.lanes[static_cast<int>(lane)].end && program_.steps[next].issue == trigger;
}

void Transfers::issue(StepId id, Nanos at) {
  const Step& step = program_.steps[id];
  Slot& slot = this->slot(id);
  slot.issued = recorder_.instant(at);
  step.lane == Lane::d2h ? send(id, slot) : make_place(id, slot);
  if (total(slot.storages) != step.bytes)
    throw InputError("program", "block " + std::to_string(*step.block),
                     std::string(name_of(step.kind)) + " moves " + std::to_string(step.bytes.value) +
                         " B, but the model has " + std::to_string(total(slot.storages).value) +
                         " B there: the profile is of another model");
}

// A load may be issued before the store that it has to wait for; it holds back those behind it.
void Transfers::submit_issued(Lane lane) {
  StepId& next = next_submit_[static_cast<int>(lane)];
  for (; next < next_issue_[static_cast<int>(lane)]; ++next) {
    Slot& slot = this->slot(next);
    const HostBuffer* const buffer = pooled(next);
    std::byte* const host =
        buffer ? buffer->data()
               : model_.weights(*program_.steps[next].block).host(program_.steps[next].layer);
    CopyJob job = job_of(program_.steps[next], host, slot.storages);
    job.issued = this->slot(next).issued;
    job.pageable = buffer && buffer->is_pageable();
    if (job.pageable) recorder_.is_pageable(next);
    job.always_pays_latency = program_.single_stream[static_cast<int>(lane)];
    for (StepId before : program_.waits_of(next)) job.after.push_back(this->slot(before).copy);
    if (std::find(job.after.begin(), job.after.end(), nullptr) != job.after.end()) return;
    slot.copy = device_.submit(std::move(job));
  }
}

void Transfers::send(StepId id, Slot& slot) {
  slot.storages = state_.send(program_.steps[id]);
  const std::optional<BufferId> side = host_side(program_, id);
  if (!side) return;
  const Nanos begin = recorder_.now();
  HostBuffer& buffer = host_[*side] = device_.host_memory().check_out(program_.buffers[*side].bytes);
  if (!buffer.is_new()) return;
  const Nanos end = recorder_.now();
  recorder_.pinned(begin, end);
  slot.issued = recorder_.instant(end);
}

void Transfers::make_place(StepId id, Slot& slot) {
  for (Bytes bytes : state_.sizes(program_.steps[id]))
    slot.storages.emplace_back(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes.value),
                               device_.memory().allocate(bytes));
  if (const HostBuffer* const buffer = pooled(id)) buffer->mark_pending();
}

// The buffer that the store asked for and the restore frees.
const HostBuffer* Transfers::pooled(StepId id) const {
  const std::optional<BufferId> side = host_side(program_, id);
  return side ? &host_[*side] : nullptr;
}

Nanos Transfers::wait_for(StepId step) {
  Nanos arrived;
  for (StepId id : program_.waits_of(step)) {
    Slot& slot = this->slot(id);
    if (!slot.copy) throw DefectError("a compute step waits for a copy that waits for a later step");
    slot.copy->wait();
    if (slot.copy->ended()) arrived = std::max(arrived, recorder_.since_begin(slot.copy->span().end));
    if (program_.steps[id].lane == Lane::h2d)
      state_.receive(program_.steps[id], std::exchange(slot.storages, {}));
  }
  return arrived;
}

void Transfers::clear() {
  bool cleared = false;
  for (Lane lane : copy_lanes)
    while (clear_next(lane)) cleared = true;
  if (!cleared) return;
  recorder_.device_bytes(recorder_.now(), device_.memory().live());
  recorder_.host_bytes(recorder_.now(), device_.host_memory().live());
}

// False where the lane's next copy has not ended.
bool Transfers::clear_next(Lane lane) {
  StepId& next = next_clear_[static_cast<int>(lane)];
  if (next == next_submit_[static_cast<int>(lane)]) return false;
  Slot& slot = this->slot(next);
  if (!slot.copy->ended()) return false;
  slot.copy->finish();  // throws where it has failed
  const WorkSpan span = slot.copy->span();
  recorder_.ran(next, recorder_.since_begin(span.begin), recorder_.since_begin(span.end));
  if (lane == Lane::d2h) slot.storages.clear();
  if (lane == Lane::h2d)
    if (const std::optional<BufferId> side = host_side(program_, next)) host_[*side] = {};
  ++next;
  return true;
}

void Transfers::settle_weights(std::uint32_t block) {
  for (StepId id = next_clear_[static_cast<int>(Lane::d2h)]; id < next_submit_[static_cast<int>(Lane::d2h)];
       ++id)
    if (program_.steps[id].kind == StepKind::store_weights && program_.steps[id].block == block)
      slot(id).copy->finish();
}

bool Transfers::make_room() {
  const StepId next = next_clear_[static_cast<int>(Lane::d2h)];
  if (next == next_submit_[static_cast<int>(Lane::d2h)]) return false;
  slot(next).copy->finish();
  recorder_.count("waits_for_room", ++waits_for_room_);
  return clear_next(Lane::d2h);
}

void Transfers::drain() {
  for (Slot& slot : slots_)
    if (slot.copy) slot.copy->finish();
  clear();
}

}  // namespace stowage
