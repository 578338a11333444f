#include "controllers/peering/peer_servers.hpp"

#include "core/common/secret_bytes.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqo::controllers {

void PeerServers::see(const std::string& ns, const kube::Store& secrets, std::string_view cluster) {
  // Two histories of the database may have the same version.
  servers_.erase({ns, std::string(cluster)});
  if (secrets.count(secrets_by_provider, cluster) > 0) {
    namespaces_[std::string(cluster)].insert(ns);
    return;
  }
  const auto found = namespaces_.find(cluster);
  if (found == namespaces_.end()) return;
  found->second.erase(ns);
  if (found->second.empty()) namespaces_.erase(found);
}

void PeerServers::forget(const std::string& ns) {
  std::erase_if(servers_, [&](const auto& entry) { return entry.first.ns == ns; });
  for (auto& [cluster, namespaces] : namespaces_) namespaces.erase(ns);
  std::erase_if(namespaces_, [](const auto& entry) { return entry.second.empty(); });
}

std::optional<std::string> PeerServers::namespace_of(std::string_view cluster) const {
  const auto found = namespaces_.find(cluster);
  return found == namespaces_.end() ? std::nullopt : std::optional(*found->second.begin());
}

std::string PeerServers::server(const kube::ObjectKey& peer, const kube::Store& secrets,
                                const std::function<kube::Object()>& first) {
  std::string state;
  for (const kube::ObjectKey& key : secrets.keys(secrets_by_provider, peer.name))
    state += std::string(secrets.uid(key)) + '/' + std::to_string(secrets.version(key)) + ' ';
  Known& known = servers_[peer];
  if (known.state == state) return known.server;
  ++reads_;
  const auto config = kube::wire::parse_kubeconfig(core::secret_bytes(first(), "kubeconfig"), {});
  known = {.state = std::move(state), .server = config ? config->server.text() : std::string()};
  return known.server;
}

}  // namespace liqo::controllers
