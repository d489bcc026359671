#include "simulator/ledger.h"

#include <algorithm>

namespace stowage {
namespace {

void keep_highest(Bytes& peak, Bytes level) {
  peak = std::max(peak, level);
}

void sample(std::vector<MemorySample>& curve, Nanos now, Bytes level) {
  const Bytes before = curve.empty() ? Bytes{} : curve.back().bytes;
  if (level != before) curve.push_back({now, level});
}

Bytes part(const Levels& levels, MemorySpace space) {
  switch (space) {
    case MemorySpace::device:
      return levels.device;
    case MemorySpace::host:
      return levels.host;
    case MemorySpace::pinned:
      return levels.host_pinned;
  }
  return {};
}

}  // namespace

// Activations on the host have no budget of their own.
Ledger::Ledger(const Machine& machine)
    : rounding_(machine.host.pinned_rounding),
      budgets_{machine.device.usable(), machine.host.memory, machine.host.memory, machine.host.pinned_limit} {
}

void Ledger::open(const Program& program, Curves* curves) {
  program_ = &program;
  curves_ = curves;
  opening_ = true;
  levels_ = peaks_ = {};
  entries_.clear();
  overrun_.reset();
  for (BufferId id : program.initial) add(levels_, program.buffers[id], rounding_);
}

void Ledger::strike(Nanos now) {
  keep_highest(peaks_.device, levels_.device);
  keep_highest(peaks_.host, levels_.host);
  keep_highest(peaks_.host_activation, levels_.host_activation);
  keep_highest(peaks_.host_pinned, levels_.host_pinned);
  if (curves_) {
    sample(curves_->device, now, levels_.device);
    sample(curves_->host, now, levels_.host);
  }
  if (!overrun_)
    if (const std::optional<MemorySpace> space = passed()) overrun_ = explain(*space, now);
  entries_.clear();
  opening_ = false;
}

std::optional<MemorySpace> Ledger::passed() const {
  for (MemorySpace space : {MemorySpace::device, MemorySpace::host, MemorySpace::pinned})
    if (part(levels_, space) > part(budgets_, space)) return space;
  return {};
}

OutOfMemory Ledger::explain(MemorySpace space, Nanos now) const {
  struct Request {
    StepId step;
    Bytes bytes;
  };
  std::vector<Request> requests;
  const auto request = [&](StepId step, BufferId buffer) {
    Levels levels;
    add(levels, program_->buffers[buffer], rounding_);
    requests.push_back({step, part(levels, space)});
  };
  if (opening_)
    for (BufferId id : program_->initial) request(program_->first(Lane::compute), id);
  for (const Trigger& entry : entries_)
    for (const MemoryEffect& effect : program_->effects_at(entry.step, entry.edge))
      if (effect.alloc) request(entry.step, effect.buffer);

  Bytes needed;
  for (const Request& each : requests) needed += each.bytes;
  const Bytes free = part(budgets_, space) - (part(levels_, space) - needed);
  Bytes taken;
  for (const Request& each : requests)
    if ((taken += each.bytes) > free) return {space, each.step, now, needed, free};
  throw DefectError("a memory budget is passed by nobody");
}

}  // namespace stowage
