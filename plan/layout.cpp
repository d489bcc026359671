#include "plan/layout.h"

namespace stowage {

void Layout::within(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes) {
  builder.free(made_by(steps, kind, block, bytes), end_of(steps));
}

BufferId Layout::made_by(Range steps, BufferKind kind, std::uint32_t block, Bytes bytes) {
  const BufferId id = builder.buffer({Space::device, kind, block, {}, bytes});
  builder.alloc(id, begin_of(steps));
  return id;
}

}  // namespace stowage
