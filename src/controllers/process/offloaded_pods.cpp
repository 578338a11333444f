#include "controllers/process/offloaded_pods.hpp"

#include "controllers/nodes/virtual_node.hpp"

namespace liqo::controllers {
namespace {

LinkedProvider provider_of(const ProviderSession& session) {
  return {.link = session.link(), .cluster_id = session.provider()};
}

}  // namespace

std::vector<std::string> OffloadedPods::nodes() const { return virtual_nodes_->node_names(); }

std::optional<OffloadedPod> OffloadedPods::find(const kube::ObjectKey& local) const {
  const ProviderSession* session = virtual_nodes_->sessions().find_running(local);
  if (!session) return std::nullopt;
  const std::string* remote = session->pods().mapping().to_remote(local.ns);
  return OffloadedPod{.provider = controllers::provider_of(*session),
                      .node = session->pods().forging().node_name,
                      .remote_namespace = remote ? *remote : ""};
}

std::optional<OffloadedPodState> OffloadedPods::read(const kube::ObjectKey& local) const {
  const ProviderSession* session = virtual_nodes_->sessions().find_running(local);
  auto pod = session ? session->pods().local_pods().find(local) : std::nullopt;
  if (!pod) return std::nullopt;
  const std::string* remote = session->pods().mapping().to_remote(local.ns);
  OffloadedPodState state{
      .local = std::move(*pod), .provider = session->provider(), .has_twin = remote && !remote->empty()};
  if (const kube::Informer* pods = remote ? session->pods().twin_pods(local.ns, *remote) : nullptr) {
    state.is_remote_known = true;
    state.remote = pods->find({*remote, local.name});
  }
  return state;
}

std::optional<LinkedProvider> OffloadedPods::provider_of(const std::string& node) const {
  const ProviderSession* session = virtual_nodes_->session_of(node);
  return session ? std::optional(controllers::provider_of(*session)) : std::nullopt;
}

const kube::Informer* OffloadedPods::pods_of(const std::string& node) const {
  const ProviderSession* session = virtual_nodes_->session_of(node);
  return session && session->pods().local_pods().has_synced() ? &session->pods().local_pods() : nullptr;
}

}  // namespace liqo::controllers
