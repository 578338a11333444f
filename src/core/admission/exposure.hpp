// Rules for the Services and Ingresses of a consumer's twin namespaces: those of its own pods pass, and those that
// would take the traffic of others do not.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/review.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::core::admission {

/// Who owns a namespace of this cluster: nobody, the consumer that asks, or another one.
enum class NamespaceOwner { none, consumer, others };
using OwnerOf = std::function<NamespaceOwner(std::string_view ns)>;

/// What decides, beside the Service itself, where it may lead.
struct ServiceSurroundings {
  OwnerOf owner_of;
  /// An Ingress of its namespace sends traffic to it; it cannot be an `externalName` then.
  bool is_backend = false;
  /// The classes of load balancers that the consumer was offered.
  std::span<const std::string> offered = {};
};

/// What decides, beside the Ingress itself, whether it may have what it names.
struct IngressSurroundings {
  /// The Services of the namespace that are an `externalName`; a controller would carry traffic from outside to
  /// wherever they lead.
  std::span<const std::string> external_names = {};
  /// The classes of Ingresses that the consumer was offered.
  std::span<const std::string> offered = {};
};

/// Rules for a Service that a consumer writes into a namespace of `consumer` ("" if it is no consumer's); everybody
/// else passes. Addresses that the Service names itself (`externalIPs`, `loadBalancerIP`) would take traffic that is
/// not the consumer's (CVE-2020-8554), and are refused unless the policy allows them. So are labels and annotations
/// that change how it is exposed, and a class of load balancer that was not offered. So is an `externalName` that is an
/// address or leads to somebody else in this cluster or its network. Every type passes that the policy does not refuse,
/// because the Go version reflects all. What a stored Service has already may stay.
Answer check_service(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const ServiceSurroundings& around);

/// Rules for an Ingress that a consumer writes into a namespace of `consumer` ("" if it is no consumer's); everybody
/// else passes. Its labels, annotations, class and backends are checked. If the policy lists hosts, every rule names
/// one of them.
Answer check_ingress(const Request& request, std::string_view consumer, const PodPolicy& policy,
                     const IngressSurroundings& around);

/// The names of the Services that an Ingress sends traffic to, in order.
std::vector<std::string> backends_of(const kube::Object& ingress);
/// Whether the Service of that name is among them.
bool sends_to(const kube::Object& ingress, std::string_view service);

/// Whether a Service is an `externalName`.
bool is_external_name(const kube::Object& service);

}  // namespace liqo::core::admission
