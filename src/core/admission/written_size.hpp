// How much a consumer may write into one object of its tenant namespace.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// The most bytes of a Tenant, a ResourceSlice or a Renew, and those of a NamespaceMap, which names some thousand
/// twins.
inline constexpr std::size_t max_written = std::size_t{32} << 10, max_written_map = std::size_t{512} << 10;

/// Bytes of an object's JSON text that its writer decides on: labels, annotations, owners and spec. Neither the status
/// nor managedFields are among them.
std::size_t written_bytes(const json::object& tree);

/// Rule for what a consumer writes into its tenant namespace; the caller knows that it is a consumer. A change that
/// makes an object no larger passes, so that one that was stored without this rule can shrink and go.
Answer check_written(const Request& request);

}  // namespace liqo::core::admission
