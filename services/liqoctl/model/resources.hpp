// Amounts of resources: from flags to a ResourceList, and in the order in which people expect them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::model {

namespace json = kube::json;

/// `--cpu`, `--memory`, `--pods` and `--resource k=v` of the commands that ask for resources; "" = not given.
struct ResourceFlags {
  std::string cpu, memory, pods;
  std::vector<std::string> others;  ///< "nvidia.com/gpu=2"
};

/// The amounts that were given, as typed. Errors: Errc::invalid_input with the flag that is wrong: not a quantity,
/// negative, no key, a key given twice.
kube::Result<json::object> resource_list(const ResourceFlags& flags);

/// Keys and amounts: cpu, memory, pods, ephemeral-storage, then the rest by name.
std::vector<std::pair<std::string, std::string>> in_order(const json::object& resources);

/// "cpu 4, memory 8Gi": for one line of progress; "nothing" for an empty list.
std::string in_words(const json::object& resources);

/// What a refusal of a Quota counts as used: what pods have, and what is set aside for those just admitted.
json::object counted_use(const json::object& quota_status);

/// Whether both lists hold the same keys with equal amounts, however they are written.
bool same_amounts(const json::object& left, const json::object& right);

}  // namespace liqoctl::model
