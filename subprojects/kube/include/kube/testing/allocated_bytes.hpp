// How much memory a test has allocated.
#pragma once

#include <malloc.h>

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define KUBE_TESTING_OWN_HEAP 1
#include <sanitizer/allocator_interface.h>
#endif

namespace kube::testing {

/// Bytes that the process has allocated and not given back. AddressSanitizer has a heap of its own, of which the C
/// library's figures know nothing.
inline std::size_t allocated_bytes() {
#ifdef KUBE_TESTING_OWN_HEAP
  return __sanitizer_get_current_allocated_bytes();
#else
  return mallinfo2().uordblks;
#endif
}

}  // namespace kube::testing
