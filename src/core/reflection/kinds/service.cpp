// How Services are reflected.
#include <algorithm>
#include <array>
#include <utility>

#include "core/reflection/copy_notes.hpp"
#include "core/reflection/forge.hpp"
#include "core/reflection/home_names.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

using kube::string_at;

/// Fields that are copied if they are set. Left out are those about the home cluster: addresses, allocated ports, and
/// the IP families, which every API server fills in and a provider may not have.
constexpr std::array<std::string_view, 7> fields = {"type",
                                                    "selector",
                                                    "allocateLoadBalancerNodePorts",
                                                    "internalTrafficPolicy",
                                                    "ipFamilyPolicy",
                                                    "loadBalancerSourceRanges",
                                                    "sessionAffinityConfig"};
constexpr std::array<std::string_view, 5> port_fields = {"name", "protocol", "port", "targetPort", "appProtocol"};

constexpr std::array<std::string_view, 2> port_keys = {"port", "protocol"};
constexpr std::array<Schema::MergedList, 1> merged_lists = {{{"spec.ports", port_keys}}};
constexpr std::array<std::string_view, 2> atomic = {"spec.selector", "spec.loadBalancerSourceRanges"};

bool is_type(const json::object& spec, std::string_view type) { return string_at(spec, {"type"}) == type; }
bool is_door(const json::object& spec) { return is_type(spec, "LoadBalancer") || is_type(spec, "NodePort"); }
bool is_headless(const json::object& spec) { return string_at(spec, {"clusterIP"}) == "None"; }
bool has_selector(const json::object& spec) { return !kube::object_at(spec, {"selector"}).empty(); }

/// Every cluster has the Service of its own API server.
std::optional<std::string_view> never_reflected(const kube::Object& local) {
  if (local.ns() == "default" && local.name() == "kubernetes") return "";
  return std::nullopt;
}

/// The provider chooses the node port, unless an annotation asks for that of home. A port of 0 removes one that was
/// set.
json::object forge_port(const json::value& local, bool is_forced) {
  json::object port;
  if (const json::object* entries = local.if_object()) copy_fields(*entries, port, port_fields);
  const std::int64_t node_port = kube::int_at(local, {"nodePort"});
  if (node_port == 0 || is_forced) port["nodePort"] = node_port;
  return port;
}

/// Every version that has the field accepts this value, and all values mean at least this. An unknown value would make
/// the provider refuse the whole Service.
void copy_traffic_distribution(const json::object& local, json::object& spec) {
  if (!string_at(local, {"trafficDistribution"}).empty()) spec["trafficDistribution"] = "PreferClose";
}

/// A cluster with one stack refuses a Service that requires two. One with two gives both in either way. A headless
/// Service without selector requires two by default, and gets them everywhere.
void soften_family_policy(const json::object& local, json::object& spec) {
  if (is_headless(local) && !has_selector(local)) return;
  if (string_at(spec, {"ipFamilyPolicy"}) == "RequireDualStack") spec["ipFamilyPolicy"] = "PreferDualStack";
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy =
      forge_copy(kube::resources::services, local, {std::string(remote_namespace), std::string(local.name())}, ctx);
  json::object& spec = copy.mutable_spec();
  copy_fields(local.spec(), spec, fields);
  soften_family_policy(local.spec(), spec);
  copy_traffic_distribution(local.spec(), spec);
  spec["externalName"] = external_name_there(local, remote_namespace, ctx);
  spec["sessionAffinity"] = string_at(local.spec(), {"sessionAffinity"});
  // API servers give it to a ClusterIP, too, that has externalIPs, and take it of none without.
  spec["externalTrafficPolicy"] = is_door(spec) ? string_at(local.spec(), {"externalTrafficPolicy"}) : "";
  spec["publishNotReadyAddresses"] = kube::bool_at(local.tree(), {"spec", "publishNotReadyAddresses"});
  if (is_headless(local.spec())) spec["clusterIP"] = "None";
  if (is_type(spec, "LoadBalancer") && !ctx.load_balancer_class.empty())
    spec["loadBalancerClass"] = ctx.load_balancer_class;
  const bool is_forced = local.annotation(api::annotations::force_remote_node_port) == "true";
  json::array ports;
  for (const json::value& port : kube::array_at(local.spec(), {"ports"})) ports.push_back(forge_port(port, is_forced));
  if (!ports.empty()) spec["ports"] = std::move(ports);
  return copy;
}

/// `externalIPs` and `loadBalancerIP` are addresses of home, and some names lead there, too.
std::string left_out(const kube::Object& local, const core::ForgingContext& ctx) {
  constexpr std::size_t max_named = 4;
  std::vector<std::string> sentences;
  const std::string copy = "the copy in cluster " + ctx.clusters.remote;
  if (const auto addresses = kube::strings_in(kube::array_at(local.spec(), {"externalIPs"})); !addresses.empty())
    sentences.push_back(copy + " has no externalIPs (" + kube::join_some(addresses, max_named) +
                        "): these are addresses of this cluster, and lead to the Service here alone");
  if (const auto address = string_at(local.spec(), {"loadBalancerIP"});
      !address.empty() && is_type(local.spec(), "LoadBalancer"))
    sentences.push_back(copy + " has no loadBalancerIP " + kube::in_quotes(address) +
                        ": this is an address of this cluster, and a load balancer there chooses its own");
  if (std::string words = describe_lost_name(local, ctx); !words.empty()) sentences.push_back(std::move(words));
  return kube::join(sentences, "; ");
}

void default_to(json::object& entries, std::string_view key, const json::value& value) {
  if (const json::value* have = entries.if_contains(key); !is_equal(have, nullptr)) return;
  entries[key] = value;
}

/// The spec with the API server's defaults. Fields of some types are filled in for all types, on both sides of the
/// comparison.
json::object with_defaults(const kube::Object& service) {
  json::object spec = service.spec();
  default_to(spec, "type", "ClusterIP");
  default_to(spec, "sessionAffinity", "None");
  default_to(spec, "internalTrafficPolicy", "Cluster");
  default_to(spec, "externalTrafficPolicy", "Cluster");
  if (!spec.contains("allocateLoadBalancerNodePorts")) spec["allocateLoadBalancerNodePorts"] = true;
  if (string_at(spec, {"sessionAffinity"}) == "ClientIP")
    default_to(spec, "sessionAffinityConfig", {{"clientIP", {{"timeoutSeconds", 10800}}}});
  if (json::value* ports = spec.if_contains("ports"); ports && ports->is_array())
    for (json::value& each : ports->get_array())
      if (json::object* port = each.if_object()) {
        default_to(*port, "protocol", "TCP");
        if (const json::value* number = port->if_contains("port"))
          default_to(*port, "targetPort", json::value(*number));
      }
  return spec;
}

/// Whether the last apply of this process set the field: one of another owner is not taken away.
bool has_applied(const kube::Object& live, std::string_view field) {
  const std::string entry = "f:" + std::string(field);
  return std::ranges::any_of(kube::array_at(live.metadata(), {"managedFields"}), [&entry](const json::value& manager) {
    return string_at(manager, {"manager"}) == api::reflection_manager && string_at(manager, {"operation"}) == "Apply" &&
           kube::find(manager, {"fieldsV1", "f:spec", entry});
  });
}

/// Kubernetes changes types in place, but neither a cluster IP into none nor the class of a load balancer.
bool needs_replacement(const kube::Object& live, const kube::Object& whole, const json::object& has,
                       const json::object& wants) {
  if (!is_type(has, "ExternalName") && !is_type(wants, "ExternalName") && is_headless(has) != is_headless(wants))
    return true;
  // A headless Service without selector got both IP families, even in a cluster with one, and cannot lose the second in
  // place.
  if (is_headless(has) && is_headless(wants) && !has_selector(has) && has_selector(wants)) return true;
  if (!is_type(has, "LoadBalancer") || !is_type(wants, "LoadBalancer")) return false;
  const std::string_view wanted = string_at(wants, {"loadBalancerClass"});
  const std::string_view present = string_at(has, {"loadBalancerClass"});
  if (wanted.empty()) return !present.empty() && has_applied(live, "loadBalancerClass");
  // A class that was applied stands, because the provider's admission may set another one each time.
  return present != wanted && !is_applied(live, whole);
}

Comparison compare(const kube::Object& live, const kube::Object& wanted) {
  const json::object has = with_defaults(live);
  json::object wants = with_defaults(wanted);
  if (needs_replacement(live, wanted, has, wants)) return Comparison::replace;
  if (is_type(has, "LoadBalancer") && is_applied(live, wanted)) wants.erase("loadBalancerClass");
  // A server that does not know the field drops it, and a Service works without it.
  if (!has.contains("trafficDistribution")) wants.erase("trafficDistribution");
  // An empty label value selects too, so the selectors are compared exactly.
  if (kube::object_at(has, {"selector"}) != kube::object_at(wants, {"selector"})) return Comparison::differs;
  return contains({{"spec", has}}, {{"spec", std::move(wants)}}, {.merged_lists = merged_lists, .atomic = atomic})
             ? Comparison::same
             : Comparison::differs;
}

}  // namespace

extern const ReflectedKind service{
    .name = "Service",
    .plural = "Services",
    .resource = kube::resources::services,
    .never_reflected = never_reflected,
    .forge = forge,
    .left_out = left_out,
    .leads_to = leads_to,
    .is_door = is_exposed,
    .may_be_narrowed = may_be_narrowed,
    .narrowed = narrowed,
    .compare = compare,
    .addresses = addresses_given,
    .notes = notes_on_service,
    .unserved = unserved_service,
};

}  // namespace liqo::core::reflection
