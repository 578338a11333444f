// How EndpointSlices are reflected. Their copies are ShadowEndpointSlices, because only the provider writes real ones.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/reflection/forge.hpp"
#include "core/reflection/home_endpoints.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

using kube::string_at;
namespace annotations = api::annotations;
namespace labels = api::labels;

/// The bytes that Kubernetes allows for all annotations together.
constexpr std::size_t max_annotation_bytes = 262'144;
/// The bytes kept free for the annotation with the digest.
constexpr std::size_t digest_bytes = 256;
/// The time of the last change of endpoints. With it, copies would be written although nothing else has changed.
constexpr std::string_view change_time = "endpoints.kubernetes.io/last-change-trigger-time";
/// Who copies Endpoints that somebody writes, with their annotations. Leaders keep leases in these (Patroni writes its
/// own every ten seconds), and each renewal would be two writes at the provider.
constexpr std::string_view mirroring_manager = "endpointslicemirroring-controller.k8s.io";

/// Who writes the EndpointSlices of Services with a selector.
constexpr std::string_view selecting_manager = "endpointslice-controller.k8s.io";

/// The endpoints that the provider can use.
struct Usable {
  json::array endpoints;
  std::map<std::string, std::set<std::string>> direct;  ///< addresses in third clusters, by the cluster's ID
  std::size_t seen = 0;
  std::vector<std::string> unreachable;
};

std::optional<kube::Object> service_of(const kube::Object& slice, const core::ForgingContext& ctx) {
  const std::string_view name = slice.label(labels::service_name);
  return name.empty() || !ctx.endpoints ? std::nullopt : ctx.endpoints->service(slice.ns(), name);
}

bool is_direct(const kube::Object& slice, const core::ForgingContext& ctx) {
  const auto service = service_of(slice, ctx);
  return service && service->annotation(annotations::use_direct_connections) == "true";
}

/// The target with another kind, because it is no object of the provider. resourceVersion is left out, because it
/// changes without the endpoint.
json::object forge_target(const json::object& target) {
  json::object made;
  constexpr std::array<std::string_view, 5> fields = {"apiVersion", "namespace", "name", "uid", "fieldPath"};
  copy_fields(target, made, fields);
  made["kind"] = "Remote" + std::string(string_at(target, {"kind"}));
  return made;
}

/// An address as the provider is to use it.
struct Outward {
  core::IpAddress address;
  bool is_theirs = false;  ///< it is that of a pod of ours there, as the provider calls it
};

/// The address of an endpoint that somebody wrote by hand. `is_on_theirs`: it says that it is on a virtual node of the
/// provider.
std::optional<Outward> hand_written(const kube::Object& slice, const core::IpAddress& address, bool is_on_theirs,
                                    const core::ForgingContext& ctx) {
  const auto theirs = ctx.endpoints->at_provider(address);
  if (is_on_theirs) return Outward{.address = theirs.value_or(address), .is_theirs = true};
  // Only an address that is mapped can be nothing but a pod's: declared ranges may be wider than those of pods.
  if (theirs && *theirs != address) return Outward{.address = *theirs, .is_theirs = true};
  if (const auto reached = ctx.endpoints->outward(slice.ns(), address)) return Outward{.address = *reached};
  return theirs ? std::optional(Outward{.address = *theirs}) : std::nullopt;
}

/// Hints name zones and nodes of home, and would keep the provider's pods from the endpoints. The provider sees the
/// consumer as one node. `node`: the ID of the cluster in which the addresses are.
json::object forge_endpoint(const json::value& endpoint, json::array addresses, std::string_view node) {
  json::object made{{"addresses", std::move(addresses)}, {"nodeName", node}};
  json::object conditions;
  constexpr std::array<std::string_view, 3> states = {"ready", "serving", "terminating"};
  copy_fields(kube::object_at(endpoint, {"conditions"}), conditions, states);
  if (!conditions.empty()) made["conditions"] = std::move(conditions);
  constexpr std::array<std::string_view, 2> words = {"hostname", "zone"};
  copy_fields(endpoint.get_object(), made, words);
  if (const json::object& target = kube::object_at(endpoint, {"targetRef"}); !target.empty())
    made["targetRef"] = forge_target(target);
  return made;
}

Usable usable_endpoints(const kube::Object& slice, const core::ForgingContext& ctx, bool direct) {
  Usable usable;
  const bool is_hand_written = slice.label(labels::endpoint_slice_manager) != selecting_manager;
  for (const json::value& endpoint : kube::array_at(slice.tree(), {"endpoints"})) {
    if (!endpoint.is_object()) continue;
    const std::string cluster = ctx.endpoints->cluster_of(string_at(endpoint, {"nodeName"}));
    const bool is_on_theirs = cluster == ctx.clusters.remote;
    // The provider has the pods that a Service selects among its own endpoints.
    if (is_on_theirs && !is_hand_written) continue;
    const bool is_elsewhere = direct && !cluster.empty() && !is_on_theirs && kube::find(endpoint, {"targetRef"});
    json::array addresses, theirs;
    std::set<std::string> present;
    for (const json::value& entry : kube::array_at(endpoint, {"addresses"})) {
      const auto* text = entry.if_string();
      const auto address = text ? core::IpAddress::parse(*text) : std::nullopt;
      ++usable.seen;
      std::optional<Outward> reached;
      if (address && is_elsewhere)
        reached = Outward{.address = *address};
      else if (address && is_hand_written)
        reached = hand_written(slice, *address, is_on_theirs, ctx);
      else if (address)
        if (const auto outward = ctx.endpoints->outward(slice.ns(), *address)) reached = Outward{.address = *outward};
      if (!reached) {
        if (text) usable.unreachable.emplace_back(*text);
        continue;
      }
      const std::string sent = reached->address.text();
      // Two texts may be the same address, and two addresses may be mapped to one.
      if (!present.insert(sent).second) continue;
      if (is_elsewhere) usable.direct[cluster].insert(sent);
      (reached->is_theirs ? theirs : addresses).emplace_back(sent);
    }
    if (!addresses.empty())
      usable.endpoints.push_back(forge_endpoint(endpoint, std::move(addresses), ctx.clusters.local));
    if (!theirs.empty()) usable.endpoints.push_back(forge_endpoint(endpoint, std::move(theirs), ctx.clusters.remote));
  }
  return usable;
}

/// Writes for the provider which endpoints in third clusters it reaches without this one. False: the list is too long
/// for an annotation.
bool tell_direct(const Usable& usable, json::object& metadata) {
  if (usable.direct.empty()) return true;
  json::object clusters;
  for (const auto& [cluster, addresses] : usable.direct) {
    json::array& of_cluster = clusters[cluster].emplace_array();
    for (const std::string& address : addresses) of_cluster.emplace_back(address);
  }
  const std::string text = json::serialize(json::object{{"clusterAddresses", std::move(clusters)}});
  json::object& all = metadata["annotations"].get_object();
  std::size_t bytes = annotations::direct_connections.size() + text.size() + digest_bytes;
  for (const auto& [key, value] : all) bytes += key.size() + value.get_string().size();
  if (bytes >= max_annotation_bytes) return false;
  all[annotations::direct_connections] = text;
  return true;
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy = forge_copy(api::kinds::shadow_endpoint_slices, local,
                                 {std::string(remote_namespace), std::string(local.name())}, ctx);
  json::object& metadata = copy.mutable_metadata();
  metadata["labels"].get_object()[labels::endpoint_slice_manager] = labels::endpoint_slice_manager_liqo;
  if (local.label(labels::endpoint_slice_manager) == mirroring_manager) metadata["annotations"].get_object().clear();
  // A user's own annotation about direct connections would pass for that of this cluster.
  for (const std::string_view key : {change_time, annotations::direct_connections})
    metadata["annotations"].get_object().erase(key);
  Usable usable = usable_endpoints(local, ctx, is_direct(local, ctx));
  if (!tell_direct(usable, metadata)) usable = usable_endpoints(local, ctx, false);
  json::object& made = copy.mutable_spec()["template"].emplace_object();
  made["addressType"] = string_at(local.tree(), {"addressType"});
  made["endpoints"] = std::move(usable.endpoints);
  if (const json::array& ports = kube::array_at(local.tree(), {"ports"}); !ports.empty()) made["ports"] = ports;
  return copy;
}

std::string left_out(const kube::Object& local, const core::ForgingContext& ctx) {
  const Usable usable = usable_endpoints(local, ctx, is_direct(local, ctx));
  if (usable.unreachable.empty()) return "";
  constexpr std::size_t max_named = 4;
  return std::to_string(usable.unreachable.size()) + " of " + std::to_string(usable.seen) +
         " addresses are left out for cluster " + ctx.clusters.remote +
         ", which cannot reach them: " + kube::join_some(usable.unreachable, max_named) +
         ". Pods of this cluster are reached by the network between the two; every other address needs an IP " +
         "object (ipam.liqo.io) in namespace " + std::string(local.ns()) + " that has got an address.";
}

std::optional<std::string_view> never_reflected(const kube::Object& local) {
  if (local.ns() == "default" && local.name() == "kubernetes") return "";
  // The endpoints are those of another cluster, and not for this one to pass on.
  if (local.label(labels::endpoint_slice_manager) == labels::endpoint_slice_manager_liqo) return "";
  if (string_at(local.tree(), {"addressType"}) == "FQDN") return "has names in place of addresses";
  return std::nullopt;
}

/// The type of an EndpointSlice is immutable.
Comparison compare(const kube::Object& live, const kube::Object& wanted) {
  const auto type = [](const kube::Object& of) { return string_at(of.spec(), {"template", "addressType"}); };
  return type(live) == type(wanted) || type(live).empty() ? compare_contained(live, wanted) : Comparison::replace;
}

/// The Service whose annotations decide about the slice; nullopt if the slice names none. If that Service does not
/// exist, its annotations are unknown and Kubernetes does not use the endpoints, so they stay at home.
std::optional<kube::Object> selected_by(const kube::Object& slice, const core::ForgingContext& ctx) {
  const std::string_view name = slice.label(labels::service_name);
  if (name.empty()) return std::nullopt;
  if (auto service = service_of(slice, ctx)) return service;
  kube::Object gone = kube::Object::make(kube::resources::services, {std::string(slice.ns()), std::string(name)});
  gone.set_annotation(annotations::skip_reflection, "true");
  return gone;
}

std::string_view no_copy(const kube::Object& remote, const core::ForgingContext&) {
  if (remote.label(labels::endpoint_slice_manager) == labels::endpoint_slice_manager_liqo) return "";
  return "has not the label of a reflected one";
}

}  // namespace

extern const ReflectedKind endpointslice{
    .name = "EndpointSlice",
    .plural = "EndpointSlices",
    .resource = api::kinds::endpoint_slices,
    .target = &api::kinds::shadow_endpoint_slices,
    .pace = {.settle = std::chrono::milliseconds(250), .interval = std::chrono::seconds(1)},
    .needs_endpoints = true,
    .typed_as = "Service",
    .selected_by = selected_by,
    .never_reflected = never_reflected,
    .no_copy = no_copy,
    .forge = forge,
    .left_out = left_out,
    .compare = compare,
};

}  // namespace liqo::core::reflection
