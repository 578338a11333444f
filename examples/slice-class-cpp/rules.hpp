// Who gets what of a pool, as pure functions: each slice what it asks for, as long as all of them fit. A class of your
// own has another `decide`.
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

/// How much there is of each resource, by its name.
using Amounts = std::map<std::string, kube::Quantity, std::less<>>;

/// Reads a pool as the command line names it: "cpu=8,memory=16Gi". Errors: Errc::parse.
kube::Result<Amounts> read_pool(std::string_view text);

/// What is said to one slice.
struct Answer {
  bool accepted = false;
  std::string_view reason;
  std::string message;
  /// What an accepted slice gets. A denied one keeps what it has.
  kube::json::object resources = {};
};

/// What the slice gets while the others of `ours` have what they were granted. The slice itself may be among them.
Answer decide(const kube::Object& slice, std::span<const kube::Object> ours, const Amounts& pool);

/// The merge patch of the slice's status that says so; nothing if it says so already, or if Liqo has withdrawn the
/// slice. The server refuses it (409) if the slice has changed since it was read.
std::optional<kube::json::object> plan_status(const kube::Object& slice, const Answer& answer, kube::WallTime now);

}  // namespace pool
