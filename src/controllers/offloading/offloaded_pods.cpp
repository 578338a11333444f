#include "liqo/controllers/offloading/offloaded_pods.hpp"

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
  OffloadedPod found{.provider = controllers::provider_of(*session),
                     .local = session->pods().local_pods().find(local),
                     .remote_namespace = remote ? *remote : ""};
  if (const kube::Informer* pods = remote ? session->pods().twin_pods(local.ns, *remote) : nullptr) {
    found.is_remote_known = true;
    found.remote = pods->find({*remote, local.name});
  }
  return found;
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
