#include "core/addresses/consumer_addresses.hpp"

#include <algorithm>

#include "core/addresses/declared_ranges.hpp"
#include "core/addresses/network_configuration.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

/// The ranges that an administrator has declared for the consumer; nullopt if there are none.
kube::Result<std::optional<std::vector<Cidr>>> read_declared(const kube::Result<PodPolicy>& policy,
                                                             const kube::Object* foreign_cluster) {
  if (!policy)
    return kube::fail(kube::Errc::parse, "the policy about it cannot be understood (annotation " +
                                             std::string(api::annotations::pod_policy) + "): " + policy.error().text());
  if (policy->endpoint_ranges) return policy->endpoint_ranges;
  if (!foreign_cluster) return std::optional<std::vector<Cidr>>();
  auto ranges = read_declared_ranges(*foreign_cluster);
  if (!ranges)
    return kube::fail(std::move(ranges.error()), "annotation " + std::string(api::annotations::remote_pod_cidrs) +
                                                     " of ForeignCluster " + std::string(foreign_cluster->name()));
  return ranges;
}

}  // namespace

ConsumerAddresses ConsumerAddresses::of(std::string_view consumer, std::string_view tenant_namespace,
                                        const AddressDeclarations& declarations) {
  ConsumerAddresses made;
  const std::string none = "Services of " + std::string(consumer) + " lead to no address outside this cluster here";
  const std::string remedy =
      "the administrator of this cluster can declare their ranges by endpointCIDRs in the annotation " +
      std::string(api::annotations::pod_policy) + " of namespace " + std::string(tenant_namespace);
  auto mapping = read_network_mapping(declarations.configurations);
  if (mapping) made.mapping_ = std::move(*mapping);
  auto declared = read_declared(declarations.policy, declarations.foreign_cluster);
  if (!declared) {
    made.forbids_ = true;
    made.words_ = none + ": " + declared.error().text();
  } else if (*declared && (*declared)->empty()) {
    made.forbids_ = true;
    made.words_ = none + ", as the administrator of this cluster has declared";
  } else if (*declared) {
    made.ranges_ = merge_ranges(std::move(**declared));
    made.words_ = "Services of " + std::string(consumer) + " lead here to addresses in " + in_words(made.ranges_) +
                  (made.mapping_.empty() ? "" : ", and to those that the network maps") + "; " + remedy;
  } else if (!made.mapping_.empty()) {
    made.words_ =
        "Services of " + std::string(consumer) + " lead here to addresses that the network maps; for others, " + remedy;
  } else if (!mapping) {
    made.words_ = none + ": " + mapping.error().text() + "; wait for the network module, or " + remedy;
  } else {
    made.words_ = none + ", because nobody has declared which they may have: " + remedy;
  }
  return made;
}

std::optional<IpAddress> ConsumerAddresses::reached(const IpAddress& address) const {
  if (forbids_) return std::nullopt;
  if (const auto mapped = mapping_.find(address)) return mapped;
  if (declares(address)) return address;
  return std::nullopt;
}

bool ConsumerAddresses::declares(const IpAddress& address) const {
  return std::ranges::any_of(ranges_, [&address](const Cidr& range) { return range.contains(address); });
}

}  // namespace liqo::core
