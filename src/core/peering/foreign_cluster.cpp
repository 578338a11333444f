#include "core/peering/foreign_cluster.hpp"

#include <algorithm>
#include <set>

#include "core/addresses/peer_addresses.hpp"
#include "core/common/set_or_erase.hpp"
#include "core/peering/clock_skew.hpp"
#include "core/peering/offloading_part.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/tenant.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::core {
namespace json = kube::json;

namespace {

using kube::Condition;

// The conditions that both versions of Liqo write: programs read type, status and reason, people the message.
constexpr Condition network_configured{"NetworkConfigurationStatus", "Ready", "NetworkConfigurationPresence",
                                       "the Configuration of the network with the peer is there"};
constexpr Condition tenant_ready{"AuthTenantStatus", "Ready", "TenantReady", "the Tenant is ready"};
constexpr Condition tenant_not_ready{"AuthTenantStatus", "NotReady", "TenantNotReady", "the Tenant is not ready"};
constexpr Condition identity_ready{"AuthIdentityControlPlaneStatus", "Ready", "IdentityReady",
                                   "the Identity has its kubeconfig"};
constexpr Condition identity_not_ready{"AuthIdentityControlPlaneStatus", "NotReady", "IdentityNotReady",
                                       "the Identity has no kubeconfig yet"};
/// A condition about a withdrawal is known by these words.
constexpr std::string_view withdrawal_words = " has withdrawn the rights of this cluster";
constexpr Condition server_ready{"APIServerStatus", "Established", "APIServerReady",
                                 "the API server of the peer is ready"};
constexpr Condition server_not_ready{"APIServerStatus", "Error", "APIServerNotReady",
                                     "the API server of the peer is not ready"};
constexpr Condition virtual_nodes[] = {
    {"OffloadingVirtualNodeStatus", "Ready", "VirtualNodesReady", "all virtual nodes are ready"},
    {"OffloadingVirtualNodeStatus", "SomeNotReady", "VirtualNodesSomeNotReady", "some virtual nodes are not ready"},
    {"OffloadingVirtualNodeStatus", "NotReady", "VirtualNodesNotReady", "no virtual node is ready"}};
constexpr Condition nodes[] = {
    {"OffloadingNodeStatus", "Ready", "NodesReady", "all nodes are ready"},
    {"OffloadingNodeStatus", "SomeNotReady", "NodesSomeNotReady", "some nodes are not ready"},
    {"OffloadingNodeStatus", "NotReady", "NodesNotReady", "no node is ready"}};

const Condition& choose(const Condition (&rows)[3], std::size_t ready, std::size_t expected) {
  return ready == expected ? rows[0] : ready == 0 ? rows[2] : rows[1];
}

/// The conditions in the given order. Those that have not changed keep their times.
void set_conditions(json::object& into, const std::vector<Condition>& wanted, kube::WallTime now) {
  const json::array& present = kube::array_at(into, {"conditions"});
  json::array made;
  for (const Condition& row : wanted) made.push_back(kube::forge_condition(present, row, now));
  set_or_erase(into, "conditions", std::move(made));
}

/// One entry of status.modules.
struct Module {
  std::string_view name;
  bool enabled;
  std::vector<Condition> conditions;
};

json::object& set_module(json::object& status, const Module& wanted, kube::WallTime now) {
  json::object& module = kube::ensure_object(kube::ensure_object(status, "modules"), wanted.name);
  module["enabled"] = wanted.enabled;
  set_conditions(module, wanted.conditions, now);
  return module;
}

bool is_running(const kube::Object& virtual_node) {
  const json::object* condition = kube::find_condition(virtual_node.status(), "VirtualKubelet");
  return condition && kube::string_at(*condition, {"status"}) == "Running";
}

bool is_tenant_ready(const kube::Object& tenant) {
  const api::Tenant view(tenant);
  return !view.tenant_namespace().empty() && (!view.needs_handshake() || !view.auth_params().empty());
}

std::vector<Condition> offloading_conditions(const PeerState& peer) {
  if (peer.virtual_nodes.empty()) return {};
  std::set<std::string_view> expected;
  std::size_t running = 0;
  for (const kube::Object& virtual_node : peer.virtual_nodes) {
    const OffloadingPart part = part_of_virtual_node(virtual_node);
    if (part.has_node) expected.insert(virtual_node.name());
    if (part.is_well) ++running;
  }
  const auto ready = std::ranges::count_if(peer.nodes, [&](const kube::Object& node) {
    return expected.contains(node.name()) && part_of_node(node).is_well;
  });
  return {choose(virtual_nodes, running, peer.virtual_nodes.size()),
          choose(nodes, static_cast<std::size_t>(ready), expected.size())};
}

/// Says which addresses of the provider's pods are accepted. It has the type of the network module's condition, because
/// the CRD of the Go version allows no other.
Condition network_condition(const PeerAddresses& addresses) {
  const auto make = [&](std::string_view status, std::string_view reason) {
    return Condition{network_configured.type, status, reason, addresses.words()};
  };
  switch (addresses.basis()) {
    case PeerAddresses::Basis::undeclared:
      return make("NotReady", api::reasons::pod_addresses_undeclared);
    case PeerAddresses::Basis::invalid:
      return make("NotReady", api::reasons::pod_addresses_invalid);
    case PeerAddresses::Basis::unchecked:
      return make("NotReady", api::reasons::pod_addresses_unchecked);
    case PeerAddresses::Basis::none:
      return make("None", api::reasons::pod_addresses_none);
    case PeerAddresses::Basis::declared:
      return make("Ready", api::reasons::pod_addresses_declared);
    case PeerAddresses::Basis::mapped:
      break;
  }
  return network_configured;
}

/// The objects in the tenant namespace. Those elsewhere may have been made by others than the cluster's administrator.
std::vector<kube::Object> in_namespace(const std::vector<kube::Object>& objects, std::string_view ns) {
  std::vector<kube::Object> found;
  for (const kube::Object& object : objects)
    if (!ns.empty() && object.ns() == ns) found.push_back(object);
  return found;
}

/// What the handshake with the peer has come to.
struct Handshake {
  std::string_view server, proxy;  ///< of the provider's API server
  std::string_view local, remote;  ///< tenant namespaces
  std::vector<Condition> conditions;
};

Handshake handshake_with(const PeerState& peer) {
  Handshake found;
  Condition identity_withdrawn = identity_not_ready;
  identity_withdrawn.message = peer.withdrawal;
  if (peer.tenant) {
    found.local = api::Tenant(*peer.tenant).tenant_namespace();
    found.conditions.push_back(is_tenant_ready(*peer.tenant) ? tenant_ready : tenant_not_ready);
  }
  if (peer.identity) {
    const api::Identity identity(*peer.identity);
    found.server = kube::string_at(identity.auth_params(), {"apiServer"});
    found.proxy = kube::string_at(identity.auth_params(), {"proxyURL"});
    found.local = peer.identity->ns();
    found.remote = identity.remote_namespace();
    found.conditions.push_back(!peer.withdrawal.empty()               ? identity_withdrawn
                               : identity.kubeconfig_secret().empty() ? identity_not_ready
                                                                      : identity_ready);
  } else if (peer.has_credentials) {
    found.server = peer.server;
    if (!peer.withdrawal.empty()) found.conditions.push_back(identity_withdrawn);
  }
  return found;
}

bool is_provider(const PeerState& peer) { return peer.identity || peer.has_credentials || !peer.virtual_nodes.empty(); }

void set_networking(json::object& status, const PeerState& peer, const PeerAddresses& addresses, kube::WallTime now) {
  const bool has_network = !peer.configurations.empty();
  // This condition belongs to another writer, and stays.
  std::optional<json::object> connection;
  if (has_network)
    if (const json::object* found = kube::find_condition(
            kube::array_at(status, {"modules", "networking", "conditions"}), "NetworkConnectionStatus"))
      connection = *found;
  std::vector<Condition> conditions;
  if (is_provider(peer)) {
    conditions.push_back(network_condition(addresses));
  } else if (has_network) {
    conditions.push_back(network_configured);
  }
  json::object& module =
      set_module(status, {.name = "networking", .enabled = has_network, .conditions = conditions}, now);
  if (connection) module["conditions"].as_array().push_back(std::move(*connection));
}

/// What is known of the provider's API server.
void set_server(json::object& status, const PeerState& peer, const Handshake& handshake, kube::WallTime now) {
  if (peer.api_server_answers && is_provider(peer)) {
    Condition condition = *peer.api_server_answers ? server_ready : server_not_ready;
    std::string message(condition.message);
    if (!*peer.api_server_answers && !peer.trouble.empty()) message = peer.trouble;
    message = with_silence(std::move(message), peer.silence);
    if (peer.clock_ahead != std::chrono::seconds(0)) message += "; " + describe_clock(peer.clock_ahead);
    condition.message = message;
    set_conditions(status, {condition}, now);
  } else if (!is_provider(peer) || (handshake.server.empty() && handshake.proxy.empty())) {
    // While the answer is unknown the condition stays, but without a server there is nothing to report.
    status.erase("conditions");
  }
}

}  // namespace

OffloadingPart part_of_virtual_node(const kube::Object& virtual_node) {
  return {.has_node = api::VirtualNode(virtual_node).create_node(), .is_well = is_running(virtual_node)};
}

OffloadingPart part_of_node(const kube::Object& node) { return {.is_well = kube::has_condition(node, "Ready")}; }

bool has_anything(const PeerState& peer) { return peer.tenant || !peer.configurations.empty() || is_provider(peer); }

json::object forge_foreign_cluster_status(const kube::Object& foreign_cluster, const PeerState& peer,
                                          kube::WallTime now) {
  const bool consumer = peer.tenant.has_value(), provider = is_provider(peer);
  const Handshake handshake = handshake_with(peer);
  json::object status = foreign_cluster.status();
  status["observedGeneration"] = foreign_cluster.generation();
  status["role"] = consumer && provider ? "ConsumerAndProvider"
                   : consumer           ? "Consumer"
                   : provider           ? "Provider"
                                        : "Unknown";
  const std::string_view home = !handshake.local.empty()      ? handshake.local
                                : !peer.virtual_nodes.empty() ? peer.virtual_nodes.front().ns()
                                                              : std::string_view();
  set_networking(status, peer, PeerAddresses::of(foreign_cluster, in_namespace(peer.configurations, home), {}), now);
  set_module(status,
             {.name = "authentication",
              .enabled = peer.tenant || peer.identity || peer.has_credentials,
              .conditions = handshake.conditions},
             now);
  set_module(status,
             {.name = "offloading", .enabled = !peer.virtual_nodes.empty(), .conditions = offloading_conditions(peer)},
             now);

  set_or_erase(status, "apiServerUrl", handshake.server);
  set_or_erase(status, "foreignProxyUrl", handshake.proxy);
  json::object& namespaces = kube::ensure_object(status, "tenantNamespace");
  set_or_erase(namespaces, "local", handshake.local);
  set_or_erase(namespaces, "remote", handshake.remote);
  if (namespaces.empty()) status.erase("tenantNamespace");
  set_server(status, peer, handshake, now);
  return status;
}

std::string describe_withdrawal(std::string_view cluster, std::string_view remote_namespace) {
  return "cluster " + std::string(cluster) + std::string(withdrawal_words) + " in namespace " +
         std::string(remote_namespace) +
         " there, as it does when the Tenant is deleted: ask its operator, peer again (liqoctl peer), or end the "
         "peering here, too (liqoctl unpeer)";
}

std::string withdrawal_note(const kube::Object& foreign_cluster) {
  const json::object* identity = kube::find_condition(
      kube::array_at(foreign_cluster.status(), {"modules", "authentication", "conditions"}), identity_not_ready.type);
  if (!identity || kube::string_at(*identity, {"status"}) != identity_not_ready.status) return {};
  const std::string_view message = kube::string_at(*identity, {"message"});
  return message.contains(withdrawal_words) ? std::string(message) : std::string();
}

std::string newly_unchecked(const kube::Object& standing, const kube::Object& next) {
  const auto message = [](const kube::Object& object) {
    for (const json::value& entry : kube::array_at(object.status(), {"modules", "networking", "conditions"}))
      if (kube::string_at(entry, {"reason"}) == api::reasons::pod_addresses_unchecked)
        return std::string(kube::string_at(entry, {"message"}));
    return std::string();
  };
  return message(standing).empty() ? message(next) : std::string();
}

kube::Object forge_foreign_cluster(const std::string& cluster_id) {
  kube::Object made = kube::Object::make(api::kinds::foreign_clusters, {"", cluster_id});
  made.set_label(api::labels::remote_cluster_id, cluster_id);
  made.set_annotation(api::annotations::made_by_liqod, "true");
  made.mutable_spec()["clusterID"] = cluster_id;
  return made;
}

bool is_made_by_us(const kube::Object& foreign_cluster) {
  return foreign_cluster.annotation(api::annotations::made_by_liqod) == "true";
}

}  // namespace liqo::core
