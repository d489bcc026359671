#include "traces/import/byte_window.h"

#include <cstring>

namespace stowage {

ByteWindow::ByteWindow(ByteSource& source, std::size_t size) : source_(&source), buffer_(size + padding) {
  const char* front = begin();
  more(front);
}

bool ByteWindow::more(const char*& position) {
  if (at_end_) return false;
  const auto dropped = static_cast<std::size_t>(position - begin());
  filled_ -= dropped;
  base_ += dropped;
  std::memmove(buffer_.data(), buffer_.data() + dropped, filled_);
  if (filled_ > (buffer_.size() - padding) / 2) buffer_.resize((buffer_.size() - padding) * 2 + padding);
  const std::size_t before = filled_;
  const std::size_t room = buffer_.size() - padding;
  while (filled_ < room) {
    const std::size_t got = source_->read({buffer_.data() + filled_, room - filled_});
    if (got == 0) {
      at_end_ = true;
      break;
    }
    filled_ += got;
  }
  std::memset(buffer_.data() + filled_, 0, padding);
  position = begin();
  return filled_ > before;
}

}  // namespace stowage
