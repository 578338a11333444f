// Counts the calls and bytes of operator new and delete. The program has one thread.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "micro.hpp"

namespace {

bench::Allocations counted;

void* count(void* memory, std::size_t size) {
  if (!memory) throw std::bad_alloc();
  ++counted.count;
  counted.bytes += size;
  counted.live_bytes += malloc_usable_size(memory);
  return memory;
}

void give_back(void* memory) {
  counted.live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

bench::Allocations bench::allocations() { return counted; }

void* operator new(std::size_t size) { return count(std::malloc(size), size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return count(std::aligned_alloc(align, (size + align - 1) / align * align), size);
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
