#include "plan/checkpoint_programs.h"

#include <vector>

#include "plan/homes.h"
#include "plan/program_builder.h"
#include "traces/error.h"

namespace stowage {
namespace {

// What a checkpoint holds, in memory's size.
std::vector<Buffer> pieces_of(const BlockTable& table, const Plan& plan, bool optimizer) {
  std::vector<Buffer> pieces;
  pieces.push_back({Space::device, BufferKind::resident, {}, {}, table.fixed.resident});
  for (const Buffer& home : weight_homes(table, plan)) pieces.push_back(home);
  if (optimizer) pieces.push_back(optimizer_home(table, plan));
  return pieces;
}

Buffer in_file(Bytes bytes) {
  return {Space::host, BufferKind::checkpoint, {}, {}, bytes};
}

// Sizes in a file whose weights take `checkpoint` bytes: in proportion, and to the byte in all.
class FileSizes {
 public:
  FileSizes(const std::vector<Buffer>& pieces, std::optional<Bytes> checkpoint) {
    for (const Buffer& piece : pieces)
      if (piece.kind != BufferKind::optimizer_state) memory_ += piece.bytes;
    file_ = checkpoint.value_or(memory_);
  }
  Bytes next(const Buffer& piece) {
    if (piece.kind == BufferKind::optimizer_state || memory_ == Bytes{}) return piece.bytes;
    passed_ += piece.bytes;
    const Bytes upto = scaled(passed_);
    const Bytes size = upto - told_;
    told_ = upto;
    return size;
  }

 private:
  __extension__ using Wide = __int128;
  Bytes scaled(Bytes bytes) const {
    return {static_cast<std::int64_t>(static_cast<Wide>(bytes.value) * file_.value / memory_.value)};
  }

  Bytes memory_, file_, passed_, told_;
};

}  // namespace

Program compile_load(const BlockTable& table, const Plan& plan, LoadMode mode,
                     std::optional<Bytes> checkpoint, bool optimizer) {
  ProgramBuilder builder;
  const std::vector<Buffer> pieces = pieces_of(table, plan, optimizer);
  FileSizes sizes(pieces, checkpoint);
  std::vector<BufferId> read;
  StepId step = 0;
  for (const Buffer& piece : pieces) {
    step = builder.compute(StepKind::prologue, piece.block, {1});
    const Buffer content = in_file(sizes.next(piece));
    read.push_back(mode == LoadMode::staged ? builder.initial(content) : builder.buffer(content));
    if (mode == LoadMode::streamed) {
      builder.alloc(read.back(), {step, Edge::begin});
      builder.free(read.back(), {step, Edge::end});
    }
    builder.alloc(builder.buffer(piece), {step, Edge::begin});
  }
  if (mode == LoadMode::staged)
    for (BufferId content : read) builder.free(content, {step, Edge::end});
  return builder.finish(plan.transfer);
}

Program compile_save(const BlockTable& table, const Plan& plan) {
  ProgramBuilder builder;
  std::vector<BufferId> gathered;
  StepId step = 0;
  for (const Buffer& piece : pieces_of(table, plan, true)) {
    step = builder.compute(StepKind::prologue, piece.block, {1});
    builder.initial(piece);
    if (piece.space == Space::host) continue;
    gathered.push_back(builder.buffer(in_file(piece.bytes)));
    builder.alloc(gathered.back(), {step, Edge::begin});
  }
  for (BufferId content : gathered) builder.free(content, {step, Edge::end});
  return builder.finish(plan.transfer);
}

}  // namespace stowage
