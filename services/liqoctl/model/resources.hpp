// Amounts of resources: from flags to a ResourceList, and in the order in which people expect them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

namespace json = kube::json;

/// `--cpu`, `--memory`, `--pods` and `--resource k=v` of the commands that ask for resources; "" = not given.
struct ResourceFlags {
  std::string cpu, memory, pods;
  std::vector<std::string> others;  ///< "nvidia.com/gpu=2"
};

/// An amount that may be asked for of a resource: a quantity that is not negative, and of cpu, memory and pods more
/// than nothing, because a node without them is never Ready. Errors: Errc::invalid_input.
kube::Result<void> check_amount(std::string_view resource, std::string_view amount);
/// As before, of "nvidia.com/gpu=2".
kube::Result<void> check_pair(std::string_view pair);

/// The amounts that were given, as typed. Errors: Errc::invalid_input with the flag that is wrong: what check_amount()
/// refuses, no key, a key given twice.
kube::Result<json::object> resource_list(const ResourceFlags& flags);

/// Keys and amounts: cpu, memory, pods, ephemeral-storage, then the rest by name.
std::vector<std::pair<std::string, std::string>> in_order(const json::object& resources);

/// An amount as people write it, where it is one: "2000", not "2k".
std::string readable(const std::string& amount);

/// "cpu 4, memory 8Gi": for one line of progress; "nothing" for an empty list.
std::string in_words(const json::object& resources);

/// "cpu 4 → 2, memory 8Gi": what was asked for, and is asked for now.
std::string change_in_words(const json::object& before, const json::object& after);

/// What the nodes of a cluster have together of the resources that a list names. Nodes that run no pods of their own
/// (virtual ones) do not count.
json::object had_by_nodes(const json::object& named, const std::vector<kube::Object>& nodes);

/// Of what was granted, what is more than the nodes of a cluster have together: "cpu 1000 (its nodes have 2)"; "" where
/// nothing is.
std::string beyond_nodes(const json::object& granted, const std::vector<kube::Object>& nodes);

/// What a refusal of a Quota counts as used: what pods have, and what is set aside for those just admitted.
json::object counted_use(const json::object& quota_status);
/// What new pods find of what a Quota grants: no less than 0 of each.
json::object free_of(const kube::Object& quota);

/// Whether both lists hold the same keys with equal amounts, however they are written.
bool same_amounts(const json::object& left, const json::object& right);

}  // namespace liqoctl::model
