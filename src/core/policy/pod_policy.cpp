#include "core/policy/pod_policy.hpp"

#include <algorithm>
#include <variant>

#include "core/common/names.hpp"
#include "core/common/nearest.hpp"
#include "core/policy/pod_policy_keys.hpp"
#include "kube/base/duration.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Where the value of a key is kept. What is optional is a choice also when it is empty.
using Member =
    std::variant<bool PodPolicy::*, std::vector<std::string> PodPolicy::*,
                 std::optional<std::vector<std::string>> PodPolicy::*, std::optional<std::vector<Cidr>> PodPolicy::*,
                 std::int64_t PodPolicy::*, Resources PodPolicy::*, std::optional<std::chrono::seconds> PodPolicy::*>;
struct Entry {
  std::string_view key;
  Member member;
  bool forbids = false;  ///< what it names, or is true for
};

constexpr std::string_view priority_classes_key = "priorityClasses";

constexpr Entry known_entries[] = {
    {"hostNamespaces", &PodPolicy::host_namespaces},
    {"hostPath", &PodPolicy::host_path},
    {"hostPorts", &PodPolicy::host_ports},
    {"privileged", &PodPolicy::privileged},
    {"unconfined", &PodPolicy::unconfined},
    {"nodeName", &PodPolicy::node_name},
    {"probeHosts", &PodPolicy::probe_hosts},
    {"otherNamespaces", &PodPolicy::other_namespaces},
    {"resourceClaims", &PodPolicy::resource_claims},
    {"nodeVolumes", &PodPolicy::node_volumes},
    {"externalIPs", &PodPolicy::external_ips},
    {"externalNameBackends", &PodPolicy::external_name_backends},
    {"strictMetadata", &PodPolicy::strict_metadata, true},
    {"alwaysPullImages", &PodPolicy::always_pull_images, true},
    {"annotations", &PodPolicy::annotations},
    {"labels", &PodPolicy::labels},
    {"objectAnnotations", &PodPolicy::object_annotations},
    {"objectLabels", &PodPolicy::object_labels},
    {"serviceAnnotations", &PodPolicy::service_annotations},
    {"ingressAnnotations", &PodPolicy::ingress_annotations},
    {"capabilities", &PodPolicy::capabilities},
    {"sysctls", &PodPolicy::sysctls},
    {"serviceAccounts", &PodPolicy::service_accounts},
    {"priorityClasses", &PodPolicy::priority_classes},
    {"schedulers", &PodPolicy::schedulers},
    {"runtimeClasses", &PodPolicy::runtime_classes},
    {"certificateSigners", &PodPolicy::certificate_signers},
    {"clusterRoles", &PodPolicy::cluster_roles},
    {"tolerations", &PodPolicy::tolerations},
    {"refusedServiceTypes", &PodPolicy::refused_service_types, true},
    {"ingressClasses", &PodPolicy::ingress_classes},
    {"loadBalancerClasses", &PodPolicy::load_balancer_classes},
    {"ingressHosts", &PodPolicy::ingress_hosts},
    {"storageClasses", &PodPolicy::storage_classes},
    {"twinNames", &PodPolicy::twin_names},
    {"endpointCIDRs", &PodPolicy::endpoint_ranges},
    {"disruptionBudgets", &PodPolicy::max_block},
    {"maxSliceResources", &PodPolicy::max_slice},
    {"maxResources", &PodPolicy::max_resources},
    {"twinQuota", &PodPolicy::twin_quota},
    {"tenantQuota", &PodPolicy::tenant_quota},
    {"maxObjects", &PodPolicy::max_objects},
    {"maxTerminationGracePeriodSeconds", &PodPolicy::max_termination_grace_seconds},
    {"maxDrainGracePeriodSeconds", &PodPolicy::max_drain_grace_seconds},
    {"maxEphemeralContainers", &PodPolicy::max_ephemeral_containers},
    {"maxShadowPods", &PodPolicy::max_shadow_pods},
    {"maxShadowPodBytes", &PodPolicy::max_shadow_pod_bytes},
    {"maxTwinBytes", &PodPolicy::max_twin_bytes},
};

PolicyValue kind_of(const Member& member) {
  if (std::holds_alternative<bool PodPolicy::*>(member)) return PolicyValue::flag;
  if (std::holds_alternative<std::int64_t PodPolicy::*>(member)) return PolicyValue::number;
  if (std::holds_alternative<Resources PodPolicy::*>(member)) return PolicyValue::amounts;
  if (std::holds_alternative<std::optional<std::vector<Cidr>> PodPolicy::*>(member)) return PolicyValue::ranges;
  if (std::holds_alternative<std::optional<std::chrono::seconds> PodPolicy::*>(member)) return PolicyValue::times;
  return PolicyValue::names;
}

std::unexpected<kube::Failure> unreadable(std::string why) { return kube::fail(kube::Errc::parse, std::move(why)); }

/// The ranges that a list names. Failure: what is wrong with it.
kube::Result<std::vector<Cidr>> read_range_list(const json::value& value) {
  const auto names = kube::read_strings(value);
  if (!names) return kube::fail(kube::Errc::parse, "it is not a list");
  std::vector<Cidr> read;
  for (const std::string& name : *names) {
    const auto range = Cidr::parse(name);
    if (!range) return kube::fail(kube::Errc::parse, kube::in_quotes(name, 64) + " is none");
    read.push_back(*range);
  }
  return read;
}

/// The classes that replace the consumer's PriorityClasses. Failure: what is wrong with the map.
kube::Result<std::map<std::string, std::string, std::less<>>> read_class_map(const json::object& entries) {
  std::map<std::string, std::string, std::less<>> read;
  for (const auto& [name, value] : entries) {
    const json::string* target = value.if_string();
    if (!target || !is_dns_subdomain(*target))
      return kube::fail(kube::Errc::parse,
                        "maps " + kube::in_quotes(name, 64) + " to what is no name of a PriorityClass");
    read.emplace(std::string_view(name), std::string_view(*target));
  }
  return read;
}

// Each reads a value into its place in the policy. Failure: what the value has to be.

kube::Result<void> read_into(bool& flag, const json::value& value) {
  if (!value.is_bool()) return unreadable("must be true or false");
  flag = value.get_bool();
  return {};
}

kube::Result<void> read_into(std::vector<std::string>& list, const json::value& value) {
  auto names = kube::read_strings(value);
  if (!names) return unreadable("must be a list of names");
  list = std::move(*names);
  return {};
}

kube::Result<void> read_into(std::optional<std::vector<std::string>>& list, const json::value& value) {
  return read_into(list.emplace(), value);
}

kube::Result<void> read_into(std::optional<std::vector<Cidr>>& ranges, const json::value& value) {
  auto read = read_range_list(value);
  if (!read) return unreadable("must be a list of ranges of addresses such as 10.2.0.0/16: " + read.error().text());
  ranges = std::move(*read);
  return {};
}

kube::Result<void> read_into(std::int64_t& bound, const json::value& value) {
  if (!value.is_int64() || value.get_int64() < 0) return unreadable("must be a number, 0 or more");
  bound = value.get_int64();
  return {};
}

/// A budget must hold for long enough to be asked once, and no longer than an eviction can be lent (`lent_for` in
/// core/offloading/disruption_budget.hpp).
kube::Result<void> read_into(std::optional<std::chrono::seconds>& block, const json::value& value) {
  constexpr std::chrono::seconds least{10}, most{3600};
  const json::object* map = value.if_object();
  const auto time = map && map->size() == 1 ? kube::parse_duration(kube::string_at(*map, {"maxBlock"}))
                                            : kube::Result<kube::Duration>(kube::fail(kube::Errc::parse, "no time"));
  if (!time || *time < least || *time > most)
    return unreadable("must be {\"maxBlock\": TIME} with a time from 10s to 1h, such as 10m");
  block = std::chrono::floor<std::chrono::seconds>(*time);
  return {};
}

kube::Result<void> read_into(Resources& amounts, const json::value& value) {
  const json::object* listed = value.if_object();
  auto read =
      listed ? read_resources(*listed) : kube::Result<Resources>(kube::fail(kube::Errc::parse, "it is not an object"));
  if (!read) return unreadable("must map resources to quantities: " + read.error().text());
  amounts = std::move(*read);
  return {};
}

/// Sets what the entry says in the policy. Failure: what is wrong with the entry.
kube::Result<void> read_entry(PodPolicy& policy, std::string_view key, const json::value& value) {
  if (const json::object* map = key == priority_classes_key ? value.if_object() : nullptr) {
    auto read = read_class_map(*map);
    if (!read) return unreadable("\"priorityClasses\" " + read.error().text());
    policy.priority_class_map = std::move(*read);
    return {};
  }
  const auto* known = std::ranges::find(known_entries, key, &Entry::key);
  if (known == std::end(known_entries))
    return unreadable(kube::in_quotes(key, 80) + " is not a key of it" + nearest_policy_key(key));
  auto read = std::visit([&](auto member) { return read_into(policy.*member, value); }, known->member);
  if (read) return {};
  const std::string_view or_map = key == priority_classes_key ? " or a map of names" : "";
  return unreadable("\"" + std::string(key) + "\" " + read.error().text() + std::string(or_map));
}

}  // namespace

kube::Result<PodPolicy> read_pod_policy(std::string_view annotation) {
  PodPolicy policy;
  if (annotation.empty()) return policy;
  if (annotation.size() > max_policy_bytes) return unreadable("it is larger than 16 KiB");
  const auto document = kube::parse_json(annotation, 4);
  if (!document) return unreadable(document.error().text());
  const json::object* listed = document->if_object();
  if (!listed) return unreadable("it is not a JSON object");
  for (const auto& [key, value] : *listed) KUBE_TRYV(read_entry(policy, key, value));
  return policy;
}

std::vector<PolicyKey> policy_keys() {
  std::vector<PolicyKey> keys;
  for (const Entry& entry : known_entries)
    keys.push_back({.name = entry.key, .value = kind_of(entry.member), .forbids = entry.forbids});
  return keys;
}

std::string nearest_policy_key(std::string_view key) {
  std::vector<std::string> known;
  for (const Entry& entry : known_entries) known.emplace_back(entry.key);
  const std::string near = nearest(key, known);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

std::string_view mapped_priority_class(const PodPolicy& policy, std::string_view of_consumer) {
  auto found = policy.priority_class_map.find(of_consumer);
  if (found == policy.priority_class_map.end()) found = policy.priority_class_map.find("*");
  return found == policy.priority_class_map.end() ? std::string_view() : std::string_view(found->second);
}

bool lists(const std::vector<std::string>& list, std::string_view value) {
  return std::ranges::any_of(list, [value](const std::string& entry) { return entry == "*" || entry == value; });
}

bool lists_key(const std::vector<std::string>& list, std::string_view key) {
  return std::ranges::any_of(list, [key](std::string_view entry) {
    if (entry == "*" || entry == key) return true;
    return entry.ends_with("/*") && key.starts_with(entry.substr(0, entry.size() - 1));
  });
}

}  // namespace liqo::core
