// Puts a program together: compute steps in order, copies in any order, buffers and their lives.
#pragma once

#include <optional>
#include <vector>

#include "plan/program.h"

namespace stowage {

using CopyId = std::uint32_t;  // in the order of copy() calls

class ProgramBuilder {
 public:
  // Appends to the compute lane.
  StepId compute(StepKind kind, std::optional<std::uint32_t> block, Nanos duration, bool saves = true,
                 std::optional<std::uint32_t> layer = {}, std::optional<Scope> scope = {});

  const Step& step(StepId compute) const { return program_.steps[compute]; }
  StepId compute_steps() const { return static_cast<StepId>(program_.steps.size()); }

  // Copies of one lane run in the order of their triggers; where triggers are equal, in the order of these
  // calls. It starts only after copy `after` has ended.
  CopyId copy(const Step& step, std::optional<CopyId> after = {});
  void wait(StepId compute, CopyId copy);

  BufferId buffer(const Buffer& buffer);
  BufferId initial(const Buffer& buffer);  // alive from the start

  void alloc(BufferId buffer, Trigger at);
  void free(BufferId buffer, Trigger at);
  void alloc_at_issue(BufferId buffer, CopyId copy);
  void free_after(BufferId buffer, CopyId copy);

  // The finished program; the builder is empty afterwards.
  Program finish(const TransferSettings& transfer);
  // The same, but it stays in the builder until clear().
  const Program& finish_here(const TransferSettings& transfer);
  // Empty, but for the memory that it has.
  void clear();

 private:
  struct Copy {
    Step step;
    std::optional<CopyId> after;
  };
  // `owner` is a compute step or, until the lanes are sorted, a copy.
  struct Effect {
    std::uint32_t owner;
    bool of_copy;
    Edge edge;
    MemoryEffect what;
  };
  struct Wait {
    StepId step;
    CopyId copy;
  };

  void sort_lanes();
  void resolve_waits();
  void resolve_effects();

  Program program_;
  std::vector<Copy> copies_;
  std::vector<StepId> copy_steps_;  // final id of each copy
  std::vector<CopyId> order_;       // of the copies of one lane
  std::vector<Effect> effects_;
  std::vector<Wait> waits_;
};

}  // namespace stowage
