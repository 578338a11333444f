// The copy of a Service of which a provider refuses labels, annotations or the class of its load balancer: one that
// only the provider's own pods reach.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// The parts of an object that a provider has refused.
struct RefusedParts {
  std::set<std::string, std::less<>> labels, annotations;  ///< keys
  bool load_balancer_class = false;

  bool empty() const { return labels.empty() && annotations.empty() && !load_balancer_class; }
  bool operator==(const RefusedParts&) const = default;
};

/// The most keys of one object that are remembered, because each refusal may name others.
inline constexpr std::size_t max_refused_keys = 64;

/// The parts of a copy that a refusal names: a provider of any version writes "annotation KEY", "label KEY" or
/// "spec.loadBalancerClass", and other webhooks the key. Of a long refusal only the beginning is read.
RefusedParts refused_parts(const kube::Object& copy, std::string_view words);

/// Adds the parts of `more` to `parts`, at most `max_refused_keys` in all. Returns whether there were new ones.
bool add_refused(RefusedParts& parts, RefusedParts more);

/// Whether the copy has one of these parts.
bool has_refused(const kube::Object& copy, const RefusedParts& parts);

/// Whether two copies differ in one of these parts.
bool differs_in(const kube::Object& left, const kube::Object& right, const RefusedParts& parts);

/// Whether a Service is reached from outside its cluster: a LoadBalancer or a NodePort.
bool is_exposed(const kube::Object& service);

/// Whether the Service may be copied without the refused parts. It is exposed, and the narrowed copy would lack none of
/// its annotations by which an Ingress controller may keep traffic from the Services behind an Ingress.
bool may_be_narrowed(const kube::Object& service, const RefusedParts& refused);

/// The Service at home as it is to be copied without the refused parts: a ClusterIP without any field of the other
/// types, any key that a known controller obeys, and any annotation of the domain of a refused one. One key may open
/// what another one keeps shut.
kube::Object narrowed(const kube::Object& service, const RefusedParts& refused);

/// The sentence of the Event about a Service whose copy is narrowed.
std::string describe_narrowed(const RefusedParts& refused, std::string_view provider);

/// What home can do about refused keys, a clause behind the words of the refusal; "" if there are none.
std::string advice_about(const RefusedParts& refused);

/// The sentence about an object that is exposed, and whose copy was taken away because the provider refuses a part of
/// it.
std::string describe_shut(std::string_view provider, std::string_view words);

}  // namespace liqo::core::reflection
