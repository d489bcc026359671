#include "plan/layout.h"

namespace stowage {

void Layout::within(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes) {
  builder.free(made_by(steps, kind, block, bytes), end_of(steps));
}

BufferId Layout::made_by(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes,
                         std::uint32_t holders) {
  const BufferId id = builder.buffer({Space::device, kind, block, {}, bytes, holders});
  builder.alloc(id, begin_of(steps));
  return id;
}

BufferId Layout::made_late_by(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes) {
  const BufferId id = builder.buffer({Space::device, kind, block, {}, bytes});
  builder.alloc(id, end_of(steps));
  return id;
}

}  // namespace stowage
