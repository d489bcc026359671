#include "simulator/ledger.h"

#include <algorithm>
#include <vector>

#include "traces/error.h"

namespace stowage {
namespace {

void append(std::vector<MemorySample>& curve, Nanos now, Bytes level) {
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
    case MemorySpace::disk:
      return levels.disk;
  }
  return {};
}

}  // namespace

// Activations on the host have no budget of their own.
Ledger::Ledger(const Machine& machine)
    : rounding_(machine.host.pinned_rounding),
      machine_budgets_{machine.device.usable(), machine.host.memory, machine.host.memory,
                       machine.host.pinned_limit, machine.disk ? machine.disk->capacity : Bytes{}} {}

void Ledger::open(const Program& program, Curves* curves, const HostPool* host) {
  program_ = &program;
  holders_.open(program);
  host_ = host;
  budgets_ = machine_budgets_;
  if (program.pinned.bytes) budgets_.host_pinned = std::min(budgets_.host_pinned, *program.pinned.bytes);
  curves_ = curves;
  touched_ = true;
  levels_ = peaks_ = {};
  overrun_.reset();
  for (BufferId id : program.initial) add(levels_, program.buffers[id], rounding_);
}

void Ledger::note_overrun(Nanos now) {
  for (MemorySpace space : memory_spaces) {
    if (part(levels_, space) <= part(budgets_, space)) continue;
    overrun_ = {space, now, part(levels_, space)};
    return;
  }
}

void Ledger::sample(Nanos now) {
  append(curves_->device, now, levels_.device);
  append(curves_->host, now, levels_.host);
  append(curves_->disk, now, levels_.disk);
}

std::optional<OutOfMemory> Ledger::overrun(const StepTimes& times) const {
  if (!overrun_) return {};
  struct Request {
    StepId step;
    Bytes bytes;
  };
  std::vector<Request> requests;
  const auto request = [&](StepId step, BufferId buffer) {
    Levels levels;
    add(levels, program_->buffers[buffer], rounding_, is_pageable(buffer));
    requests.push_back({step, part(levels, overrun_->space)});
  };
  if (overrun_->at == Nanos{})
    for (BufferId id : program_->initial) request(program_->first(Lane::compute), id);
  for (StepId step = 0; step < program_->steps.size(); ++step)
    for (Edge edge : {Edge::ready, Edge::begin, Edge::end}) {
      if (edge_of(*program_, times, step, edge) != overrun_->at) continue;
      for (const MemoryEffect& effect : program_->effects_at(step, edge))
        if (effect.alloc) request(step, effect.buffer);
    }

  Bytes needed;
  for (const Request& each : requests) needed += each.bytes;
  const Bytes free = part(budgets_, overrun_->space) - (overrun_->level - needed);
  Bytes taken;
  for (const Request& each : requests)
    if ((taken += each.bytes) > free)
      return OutOfMemory{overrun_->space, each.step, overrun_->at, needed, free};
  throw DefectError("a memory budget is passed by nobody");
}

}  // namespace stowage
