// The shares of a pool, as pure functions: each slice gets what it requests, as long as all of them fit. A class of
// your own has another `decide`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/base/quantity.hpp"
#include "kube/k8s/object.hpp"

namespace pool {

/// The amount of each resource, by its name.
using Amounts = std::map<std::string, kube::Quantity, std::less<>>;

/// Reads a pool as the command line names it: "cpu=8,memory=16Gi". Errors: Errc::parse.
kube::Result<Amounts> read_pool(std::string_view text);

/// The answer to one slice.
struct Answer {
  bool accepted = false;
  std::string_view reason;
  std::string message;
  /// The grant of an accepted slice. A denied one keeps what it has.
  kube::json::object resources = {};
};

/// The answer to the slice while the others of `ours` keep their grants. The slice itself may be among them.
Answer decide(const kube::Object& slice, std::span<const kube::Object> ours, const Amounts& pool);

/// The merge patch of the slice's status with this answer. No value if the status has it already, or if Liqo has
/// withdrawn the slice. The server refuses it (409) if the slice has changed since it was read.
std::optional<kube::json::object> plan_status(const kube::Object& slice, const Answer& answer, kube::WallTime now);

}  // namespace pool
