#include "kubelet_api.hpp"

#include "core/offloading/waiting_pod.hpp"

namespace liqod {
namespace {

using liqo::controllers::OffloadedPods;

kube::Failure no_session(const std::string& unknown) {
  return {kube::Errc::missing, unknown + " not known: there is no session with its provider"};
}

std::string not_here(const kube::ObjectKey& pod) { return "pod " + pod.text() + " does not run on a virtual node"; }

liqo::core::PodObstacles find_obstacles(const OffloadedPods& pods, const kube::ObjectKey& pod,
                                        const std::string& container) {
  const auto state = pods.read(pod);
  if (!state) return {.pod = not_here(pod)};
  return liqo::core::find_obstacles({.local = state->local,
                                     .remote = state->remote ? &*state->remote : nullptr,
                                     .provider = state->provider,
                                     .has_twin = state->has_twin,
                                     .is_remote_known = state->is_remote_known},
                                    container);
}

kube::Result<liqo::kubelet::PodRoute> find_pod(const OffloadedPods& pods, const std::string& ns,
                                               const std::string& pod) {
  const kube::ObjectKey key{ns, pod};
  auto found = pods.find(key);
  if (!found) return kube::fail(kube::Errc::missing, not_here(key));
  const auto& link = found->provider.link;
  liqo::kubelet::PodRoute route;
  route.transport = {link, &link->transport()};
  if (auto* upgrader = link->upgrader()) route.upgrader = {link, upgrader};
  route.remote_namespace = std::move(found->remote_namespace);
  route.remote_pod = pod;
  route.provider = std::move(found->provider.cluster_id);
  route.obstacles = [pods, key](const std::string& container) { return find_obstacles(pods, key, container); };
  route.node = std::move(found->node);
  return route;
}

/// The pods of a node, from the cache of its session with the provider.
kube::Result<liqo::kubelet::CachedPods> pods_of(const OffloadedPods& pods, const std::string& node) {
  const kube::Informer* now = pods.pods_of(node);
  if (!now) return std::unexpected(no_session("the pods of node " + node + " are"));
  return liqo::kubelet::CachedPods{.keys = now->store().keys(),
                                   .find =
                                       [pods, node](const kube::ObjectKey& key) {
                                         const kube::Informer* current = pods.pods_of(node);
                                         return current ? current->find(key) : std::nullopt;
                                       },
                                   .uid =
                                       [pods, node](const kube::ObjectKey& key) {
                                         const kube::Informer* current = pods.pods_of(node);
                                         return current ? std::string(current->store().uid(key)) : std::string();
                                       },
                                   .is_there =
                                       [pods, node, link = pods.provider_of(node)->link] {
                                         const auto current = pods.provider_of(node);
                                         return current && current->link == link && pods.pods_of(node);
                                       }};
}

/// The source of the resource usage of a node.
kube::Result<liqo::kubelet::UsageSource> usage_source_of(const OffloadedPods& pods, const std::string& node,
                                                         const std::string& cluster_id) {
  const auto provider = pods.provider_of(node);
  if (!provider) return std::unexpected(no_session("what the pods of node " + node + " use is"));
  liqo::kubelet::UsageSource source;
  source.transport = {provider->link, &provider->link->transport()};
  if (auto* upgrader = provider->link->upgrader()) source.upgrader = {provider->link, upgrader};
  source.provider = provider->cluster_id;
  source.consumer = cluster_id;
  return source;
}

}  // namespace

std::unique_ptr<liqo::kubelet::Kubelet> make_kubelet(liqo::controllers::Process& process, const Options& options) {
  const OffloadedPods pods = process.offloaded_pods();
  return std::make_unique<liqo::kubelet::Kubelet>(
      liqo::kubelet::KubeletContext{
          process.context().environment(), process.home(), process.leader_api(), process.replica_api(),
          process.leadership(),
          [pods](const std::string& ns, const std::string& pod) { return find_pod(pods, ns, pod); },
          [pods](const std::string& node) { return pods_of(pods, node); },
          [pods, id = options.settings.cluster_id](const std::string& node) { return usage_source_of(pods, node, id); },
          [pods] { return pods.nodes(); }},
      liqo::kubelet::KubeletSettings{.node_ip = options.settings.nodes.node_ip,
                                     .ports = options.settings.nodes.kubelet_ports,
                                     .self_signed = options.certificate_type == "self-signed",
                                     .client_ca_file = options.kubelet_client_ca_file});
}

}  // namespace liqod
