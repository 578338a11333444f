// Foreign text as quantities: what is read has a canonical text that reads as the same amount, and stays in its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/base/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = kube::Quantity::parse(text);
  if (!read) return 0;
  const std::string canonical = read->text();
  const auto again = kube::Quantity::parse(canonical);
  if (!again || *again != *read || again->text() != canonical) std::abort();
  const kube::Quantity highest(INT64_MAX);
  if (*read > highest || *read < highest * -1) std::abort();
  if ((*read < kube::Quantity()) != (read->value() < 0) || (read->sign() == 0) != (read->milli_value() == 0))
    std::abort();
  return 0;
}
