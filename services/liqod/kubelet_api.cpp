#include "kubelet_api.hpp"

#include "liqo/core/forge/ephemeral_containers.hpp"

namespace liqod {
namespace {

kube::Result<liqo::kubelet::PodRoute> find_pod(liqo::controllers::Process& process, const std::string& ns,
                                               const std::string& pod) {
  const kube::ObjectKey key{ns, pod};
  auto* session = process.virtual_nodes().sessions().find_running(key);
  if (!session) return kube::fail(kube::Errc::missing, "pod " + key.text() + " does not run on a virtual node");
  const auto& pods = session->pods();
  const std::string* remote = pods.mapping().to_remote(ns);
  const auto local = pods.local_pods().find(key);
  liqo::kubelet::PodRoute route;
  if (local) route.refused = liqo::core::refused_containers(*local);
  if (local) route.node = std::string(kube::string_at(local->spec(), {"nodeName"}));
  if (!remote) {
    route.trouble.emplace(kube::Errc::missing, route.refused.empty()
                                                   ? "namespace " + ns + " has no twin at the provider of pod " + pod
                                                   : route.refused.begin()->second);
    return route;
  }
  const std::shared_ptr<liqo::controllers::ProviderLink> link = session->link();
  route.transport = {link, &link->transport()};
  if (auto* upgrader = link->upgrader()) route.upgrader = {link, upgrader};
  route.remote_namespace = *remote;
  route.remote_pod = pod;
  route.provider = session->provider();
  return route;
}

/// The pods of a node as the cache of its session with the provider has them.
kube::Result<liqo::kubelet::CachedPods> pods_of(liqo::controllers::Process& process, const std::string& node) {
  const auto session = [&process, node] { return process.virtual_nodes().session_of(node); };
  const auto* now = session();
  if (!now || !now->pods().local_pods().has_synced())
    return kube::fail(kube::Errc::missing,
                      "the pods of node " + node + " are not known: there is no session with its provider");
  return liqo::kubelet::CachedPods{
      .keys = now->pods().local_pods().store().keys(),
      .find =
          [session](const kube::ObjectKey& key) {
            const auto* current = session();
            return current ? current->pods().local_pods().find(key) : std::nullopt;
          },
      .uid =
          [session](const kube::ObjectKey& key) {
            const auto* current = session();
            return current ? std::string(current->pods().local_pods().store().uid(key)) : std::string();
          },
      .is_there =
          [session, link = now->link()] {
            const auto* current = session();
            return current && current->link() == link && current->pods().local_pods().has_synced();
          }};
}

/// Whom the figures of a node are asked of.
kube::Result<liqo::kubelet::FigureSource> figures_of(liqo::controllers::Process& process, const std::string& node,
                                                     const std::string& cluster_id) {
  const auto* session = process.virtual_nodes().session_of(node);
  if (!session)
    return kube::fail(kube::Errc::missing,
                      "what the pods of node " + node + " use is not known: there is no session with its provider");
  const std::shared_ptr<liqo::controllers::ProviderLink> link = session->link();
  liqo::kubelet::FigureSource source;
  source.transport = {link, &link->transport()};
  if (auto* upgrader = link->upgrader()) source.upgrader = {link, upgrader};
  source.provider = session->provider();
  source.consumer = cluster_id;
  return source;
}

}  // namespace

std::unique_ptr<liqo::kubelet::Kubelet> make_kubelet(liqo::controllers::Process& process, const Options& options) {
  return std::make_unique<liqo::kubelet::Kubelet>(
      liqo::kubelet::KubeletContext{
          process.context().environment(), process.home(), process.api(), process.open_api(), process.leadership(),
          [&process](const std::string& ns, const std::string& pod) { return find_pod(process, ns, pod); },
          [&process](const std::string& node) { return pods_of(process, node); },
          [&process, id = options.settings.cluster_id](const std::string& node) {
            return figures_of(process, node, id);
          },
          [&process] { return process.virtual_nodes().node_names(); }},
      liqo::kubelet::KubeletSettings{.node_ip = options.settings.node_ip,
                                     .ports = options.settings.kubelet_ports,
                                     .self_signed = options.certificate_type == "self-signed",
                                     .client_ca_file = options.kubelet_client_ca_file});
}

}  // namespace liqod
