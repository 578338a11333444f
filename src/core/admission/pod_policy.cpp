#include "liqo/core/admission/pod_policy.hpp"

#include <algorithm>

#include "kube/base/printable.hpp"
#include "liqo/core/names.hpp"

namespace liqo::core::admission {
namespace json = kube::json;
namespace {

struct Switch {
  std::string_view key;
  bool PodPolicy::* member;
};
struct List {
  std::string_view key;
  std::vector<std::string> PodPolicy::* member;
};
/// A list whose presence is a choice, also when it is empty.
struct Choice {
  std::string_view key;
  std::optional<std::vector<std::string>> PodPolicy::* member;
};
/// A list of address ranges whose presence is a choice.
struct Ranges {
  std::string_view key;
  std::optional<std::vector<Cidr>> PodPolicy::* member;
};
struct Bound {
  std::string_view key;
  std::int64_t PodPolicy::* member;
};
/// A map from names of resources to quantities.
struct Amounts {
  std::string_view key;
  Resources PodPolicy::* member;
};

constexpr Switch switches[] = {
    {"hostNamespaces", &PodPolicy::host_namespaces}, {"hostPath", &PodPolicy::host_path},
    {"hostPorts", &PodPolicy::host_ports},           {"privileged", &PodPolicy::privileged},
    {"unconfined", &PodPolicy::unconfined},          {"nodeName", &PodPolicy::node_name},
    {"probeHosts", &PodPolicy::probe_hosts},         {"otherNamespaces", &PodPolicy::other_namespaces},
    {"resourceClaims", &PodPolicy::resource_claims}, {"nodeVolumes", &PodPolicy::node_volumes},
    {"externalIPs", &PodPolicy::external_ips},       {"externalNameBackends", &PodPolicy::external_name_backends},
    {"strictMetadata", &PodPolicy::strict_metadata}, {"alwaysPullImages", &PodPolicy::always_pull_images},
};
constexpr List list_members[] = {
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
    {"clusterRoles", &PodPolicy::cluster_roles},
    {"tolerations", &PodPolicy::tolerations},
    {"refusedServiceTypes", &PodPolicy::refused_service_types},
};
constexpr Choice choices[] = {
    {"ingressClasses", &PodPolicy::ingress_classes}, {"loadBalancerClasses", &PodPolicy::load_balancer_classes},
    {"ingressHosts", &PodPolicy::ingress_hosts},     {"storageClasses", &PodPolicy::storage_classes},
    {"twinNames", &PodPolicy::twin_names},
};
constexpr Amounts amounts[] = {
    {"maxSliceResources", &PodPolicy::max_slice},
    {"maxResources", &PodPolicy::max_resources},
    {"twinQuota", &PodPolicy::twin_quota},
    {"tenantQuota", &PodPolicy::tenant_quota},
};
constexpr Bound bounds[] = {
    {"maxObjects", &PodPolicy::max_objects},
    {"maxTerminationGracePeriodSeconds", &PodPolicy::max_termination_grace_seconds},
    {"maxDrainGracePeriodSeconds", &PodPolicy::max_drain_grace_seconds},
    {"maxEphemeralContainers", &PodPolicy::max_ephemeral_containers},
    {"maxShadowPods", &PodPolicy::max_shadow_pods},
    {"maxShadowPodBytes", &PodPolicy::max_shadow_pod_bytes},
    {"maxTwinBytes", &PodPolicy::max_twin_bytes},
};

constexpr Ranges ranges[] = {{"endpointCIDRs", &PodPolicy::endpoint_ranges}};

constexpr std::size_t max_annotation = 16 * 1024;

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

/// Sets what the entry says in the policy. Failure: what is wrong with the entry.
kube::Result<void> read_entry(PodPolicy& policy, std::string_view key, const json::value& value) {
  for (const Switch& known : switches) {
    if (key != known.key) continue;
    if (!value.is_bool()) return unreadable("\"" + std::string(key) + "\" must be true or false");
    policy.*known.member = value.get_bool();
    return {};
  }
  if (const json::object* map = key == "priorityClasses" ? value.if_object() : nullptr) {
    auto read = read_class_map(*map);
    if (!read) return unreadable("\"priorityClasses\" " + read.error().text());
    policy.priority_class_map = std::move(*read);
    return {};
  }
  for (const List& known : list_members) {
    if (key != known.key) continue;
    auto names = kube::read_strings(value);
    const std::string_view or_map = key == "priorityClasses" ? " or a map of names" : "";
    if (!names) return unreadable("\"" + std::string(key) + "\" must be a list of names" + std::string(or_map));
    policy.*known.member = std::move(*names);
    return {};
  }
  for (const Bound& known : bounds) {
    if (key != known.key) continue;
    if (!value.is_int64() || value.get_int64() < 0)
      return unreadable("\"" + std::string(key) + "\" must be a number, 0 or more");
    policy.*known.member = value.get_int64();
    return {};
  }
  for (const Choice& known : choices) {
    if (key != known.key) continue;
    policy.*known.member = kube::read_strings(value);
    if (!(policy.*known.member)) return unreadable("\"" + std::string(key) + "\" must be a list of names");
    return {};
  }
  for (const Amounts& known : amounts) {
    if (key != known.key) continue;
    const json::object* listed = value.if_object();
    auto read = listed ? read_resources(*listed)
                       : kube::Result<Resources>(kube::fail(kube::Errc::parse, "it is not an object"));
    if (!read)
      return unreadable("\"" + std::string(key) + "\" must map resources to quantities: " + read.error().text());
    policy.*known.member = std::move(*read);
    return {};
  }
  for (const Ranges& known : ranges) {
    if (key != known.key) continue;
    auto read = read_range_list(value);
    if (!read)
      return unreadable("\"" + std::string(key) +
                        "\" must be a list of ranges of addresses such as 10.2.0.0/16: " + read.error().text());
    policy.*known.member = std::move(*read);
    return {};
  }
  return unreadable(kube::in_quotes(key, 80) + " is not a key of it");
}

}  // namespace

kube::Result<PodPolicy> read_pod_policy(std::string_view annotation) {
  PodPolicy policy;
  if (annotation.empty()) return policy;
  if (annotation.size() > max_annotation) return unreadable("it is larger than 16 KiB");
  const auto document = kube::parse_json(annotation, 4);
  if (!document) return unreadable(document.error().text());
  const json::object* entries = document->if_object();
  if (!entries) return unreadable("it is not a JSON object");
  for (const auto& [key, value] : *entries)
    if (auto read = read_entry(policy, key, value); !read) return std::unexpected(std::move(read.error()));
  return policy;
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

}  // namespace liqo::core::admission
