// Amounts of resources: from flags to a ResourceList, and in the order that people expect.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

namespace json = kube::json;

/// `--cpu`, `--memory`, `--pods` and `--resource k=v` of commands that request resources; "" = not given.
struct ResourceFlags {
  std::string cpu, memory, pods;
  std::vector<std::string> others;  ///< "nvidia.com/gpu=2"
};

/// Checks an amount that is requested of a resource. It is a quantity that is not negative. Of cpu, memory and pods it
/// is more than 0, because a node without them is never Ready. Errors: Errc::invalid_input.
kube::Result<void> check_amount(std::string_view resource, std::string_view amount);
/// Checks "nvidia.com/gpu=2": the amount as check_amount() does. Errors: Errc::invalid_input.
kube::Result<void> check_pair(std::string_view pair);

/// The amounts that were given, as typed. Errors: Errc::invalid_input with the wrong flag: an amount that
/// check_amount() refuses, a missing key, a key given twice.
kube::Result<json::object> resource_list(const ResourceFlags& flags);

/// Keys and amounts: cpu, memory, pods, ephemeral-storage, then the rest by name.
std::vector<std::pair<std::string, std::string>> in_order(const json::object& resources);

/// An amount as people write it, if it is one: "2000", not "2k".
std::string readable(const std::string& amount);

/// "cpu 4, memory 8Gi", for one line of progress; "nothing" for an empty list.
std::string in_words(const json::object& resources);

/// "cpu 4 → 2, memory 8Gi": the earlier request, and the present one.
std::string change_in_words(const json::object& before, const json::object& after);

/// The total that the nodes of a cluster have of the resources in a list. Nodes that run no pods of their own (virtual
/// ones) do not count.
json::object had_by_nodes(const json::object& named, const std::vector<kube::Object>& nodes);

/// The granted amounts that exceed those of all nodes of a cluster together: "cpu 1000 (its nodes have 2)"; "" if none
/// does.
std::string beyond_nodes(const json::object& granted, const std::vector<kube::Object>& nodes);

/// The amounts that a refusal of a Quota counts as used: those of pods, and those reserved for pods just admitted.
json::object counted_use(const json::object& quota_status);
/// The amounts of a Quota that are free for new pods, each at least 0.
json::object free_of(const kube::Object& quota);

/// Whether both lists hold the same keys with equal amounts, however they are written.
bool same_amounts(const json::object& left, const json::object& right);

}  // namespace liqoctl::model
