// A simulated Kubernetes cluster with its built-in processes, and the objects of Liqo that an operator would apply.
#pragma once

#include <string>
#include <string_view>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/fake/kubelet.hpp"
#include "kube/testing/fake/quota_controller.hpp"
#include "kube/testing/fake/scheduler.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace liqo::sim {

namespace json = kube::json;
using kube::testing::Tree;

/// The namespace of the workload at home.
inline constexpr std::string_view home_namespace = "shop";
/// On pods of the workload: the only virtual node they may go to; absent = any.
inline constexpr std::string_view pinned_to = "sim.liqo/node";

/// API server, garbage collector, scheduler and kubelets. Real nodes are named "worker-…"; a pod is scheduled to a
/// ready virtual node if there is one, or else to a worker. Pods of a consumer come to any worker that is not cordoned;
/// without Node objects of workers there is one, "worker-1".
class Cluster {
 public:
  Cluster(kube::testing::Simulator& simulator, std::string id, std::uint64_t seed);

  /// Applies the objects that a peering leaves at the consumer: Secrets, VirtualNode, the NamespaceMap with the twin of
  /// the home namespace, and other replicated objects.
  void add_provider(const std::string& provider);
  /// Does the same without a virtual node and without replicated objects.
  void add_offloading(const std::string& provider);
  /// Adds a virtual node of that provider, which may have several.
  void add_virtual_node(const std::string& provider, const std::string& name);
  std::string node_for(const json::object& pod);
  /// A worker that is not cordoned, "" if all are.
  std::string worker();

  const std::string id;
  kube::testing::FakeApiServer server;
  kube::testing::FakeGarbageCollector collector;
  kube::testing::FakeQuotaController quota_controller;
  kube::testing::FakeKubelet kubelet;
  kube::testing::FakeScheduler scheduler;

 private:
  kube::Random random_;
};

/// The twin of the home namespace at every provider.
std::string twin_namespace(std::string_view home);
std::string tenant_namespace(std::string_view provider);
/// The provider of a virtual node: the first has its name, others have it before a dot.
std::string provider_of(std::string_view virtual_node);

/// A pod of the workload.
json::object workload_pod(std::string_view name, std::string_view restart_policy);

std::string_view uid_of(const json::object& object);
std::string_view name_of(const json::object& object);
kube::ObjectKey key_of(const json::object& object);
std::string_view phase_of(const json::object& pod);
bool is_final(std::string_view phase);
bool is_deleting(const json::object& object);
bool restarts_always(const json::object& pod);
/// Whether the condition `Ready` of a Node is true.
bool is_ready(const json::object& node);
/// UID of the consumer's pod for which an object at a provider stands.
std::string_view local_uid_of(const json::object& object);

/// A time, counted from the beginning: "+1234ms".
std::string time_text(kube::TimePoint at);

}  // namespace liqo::sim
