// Counts what a program allocates: replaces operator new, so that it is included in one source of a program
// only.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace stowage::tests {

// Of one thread.
struct Allocations {
  std::size_t count = 0;    // calls of operator new
  std::ptrdiff_t held = 0;  // bytes that have not been given back
};

inline thread_local Allocations allocations;

inline void* counted(void* memory) {
  if (!memory) throw std::bad_alloc();
  ++allocations.count;
  allocations.held += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  return memory;
}

inline void release(void* memory) {
  if (!memory) return;
  allocations.held -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace stowage::tests

void* operator new(std::size_t bytes) {
  return stowage::tests::counted(std::malloc(bytes == 0 ? 1 : bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {  // a library may call either
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return stowage::tests::counted(std::aligned_alloc(step, (bytes + step) / step * step));
}
void operator delete(void* memory) noexcept {
  stowage::tests::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  stowage::tests::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  stowage::tests::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  stowage::tests::release(memory);
}
