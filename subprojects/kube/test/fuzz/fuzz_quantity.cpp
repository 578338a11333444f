// Foreign text as quantities: what is read has a canonical text that reads as the same amount, and stays in its bounds.
// "812.5Ki" has the text "832000" here as in Kubernetes, which reads as a decimal number and then has the text "832k":
// so a text settles when it is read once more, but not always at once.
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
  if (!again || *again != *read) std::abort();
  const std::string settled = again->text();
  const auto third = kube::Quantity::parse(settled);
  if (!third || *third != *read || third->text() != settled) std::abort();
  const kube::Quantity highest(INT64_MAX);
  if (*read > highest || *read < highest * -1) std::abort();
  if ((*read < kube::Quantity()) != (read->value() < 0) || (read->sign() == 0) != (read->milli_value() == 0))
    std::abort();
  return 0;
}
