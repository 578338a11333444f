// Judges what `liqoctl check` has read: each part is well, or a sentence says what to do. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "model/findings.hpp"
#include "model/peer/pod_ranges.hpp"
#include "model/tenant/closings.hpp"
#include "text/palette.hpp"

namespace liqoctl::model {

/// `ahead`: how far the API server's clock is ahead of this machine's; no value if it does not send its time.
Finding judge_clock(std::optional<std::chrono::seconds> ahead);

/// `wanted` are the manifests of this version's chart, `there` the CustomResourceDefinitions of the cluster.
Finding judge_kinds(const std::vector<kube::json::value>& wanted, const std::vector<kube::Object>& there);
/// `wanted` are the manifests of this version's chart, `there` the roles of the cluster, which must have the rules of
/// the chart, and their bindings.
Finding judge_rights(const std::vector<kube::json::value>& wanted, const std::vector<kube::Object>& there);

/// The reason why a pod does not run: its image cannot be pulled, its container waits for something, or it has no node.
/// "" = none that its status shows.
std::string trouble_of(const kube::Object& pod);

/// `trouble`: the reason why the Deployment does not run, "" = none.
Finding judge_daemon(const kube::Object* deployment, std::string_view trouble);
/// The rest of a sentence about a daemon that does not run. "" if a replica is ready, or if that is unknown: there is
/// no Deployment, or no controller has observed it yet. `is_ours`: the reader operates that cluster.
std::string daemon_alert(const kube::Object* deployment, bool is_ours = true);
/// The versions of the daemon here, of the peer's, and of this program; "" = unknown, and not compared.
Finding judge_versions(std::string_view here, std::string_view peer, std::string_view program);

/// `configurations`: how many of the two exist. `refusal`: the API server's refusal of an object that the webhooks
/// refuse; no value if it accepted the object.
Finding judge_webhooks(const kube::Object* deployment, std::size_t configurations,
                       const std::optional<std::string>& refusal);

struct Certificate {
  struct Times {
    kube::WallTime from, until;
  };
  std::string what;
  std::optional<Times> times;  ///< no value: it cannot be read
};
/// Certificates are renewed after two thirds of their time. If only a sixth is left, the renewal did not happen.
Finding judge_certificates(const std::vector<Certificate>& certificates, kube::WallTime now);

/// The API server's address for consumers: the one that was published already, else the one that the daemon will
/// publish. "" = it has none.
struct ApiServerAddress {
  std::string url;
  std::string ca_pem;      ///< "" = the cluster's own
  bool public_ca = false;  ///< a public CA, which consumers' systems trust
  bool through_proxy = false;
};
ApiServerAddress told_address(const kube::Object* deployment, const std::vector<kube::Object>& tenants,
                              const std::vector<kube::Object>& nodes, std::string_view own_server);
/// `trouble`: the reason why it was not reached, "" = it was.
Finding judge_address(const ApiServerAddress& address, std::string_view trouble);

/// The first VirtualNode that has no Node, because another one has its name; no value if each has its own.
std::optional<Finding> judge_node_names(const std::vector<kube::Object>& virtual_nodes);

/// Virtual nodes, each with the failure of a request through the API server to its kubelet API, "" = it responded.
Finding judge_kubelet_api(const std::vector<std::pair<std::string, std::string>>& answers);

/// The response of the metrics port to a request through the API server and its Service. `trouble`: the reason why it
/// was not reached, "" = it was. `confined`: a NetworkPolicy lists the clients that may reach it.
struct MetricsSnapshot {
  bool has_service = false, confined = false;
  std::string trouble;
};
Finding judge_metrics(const kube::Object* deployment, const MetricsSnapshot& snapshot);
/// Whether the chart's NetworkPolicy lists the clients that may reach this port.
bool is_confined(const kube::Object& network_policy, std::string_view port);
/// The port of the metrics, and whether it is HTTPS, by the daemon's arguments.
std::string_view metrics_port(const kube::Object* deployment);
bool has_secure_metrics(const kube::Object* deployment);

/// The parts by which consumers read their pods' resource usage.
struct UsageSnapshot {
  const kube::Object* api_service = nullptr;  ///< v1beta1.metrics.liqo.io; null = there is none
  std::string_view ns;                        ///< where the daemon's Service is
  bool has_front_proxy = true;                ///< the API server has a CA of its front proxy
};
Finding judge_usage(const kube::Object* deployment, const UsageSnapshot& snapshot);

/// The account that the daemon uses at kubelets, and the API server's answers about the rights that this needs; no
/// value: not answered.
struct UsageAccount {
  bool exists = false;
  std::optional<bool> may_liqod_have_token, may_read_usage;
};
/// Whether the daemon can read from kubelets. No value if it does not have to (`metricAgent.enabled`).
std::optional<Finding> judge_usage_account(const kube::Object* deployment, const UsageAccount& account,
                                           std::string_view ns);

/// Whether the ranges declared for peers' pods are disjoint from those of this cluster.
Finding judge_ranges(const std::vector<kube::Object>& peers, const std::vector<OwnRange>& own);

/// Whether all settings of the provider can be read: those in the ConfigMap (null = there is none), and in the
/// annotations of Tenants.
Finding judge_sharing(const kube::Object* config_map, const std::vector<kube::Object>& tenants);

/// Whether storage is switched on in the ConfigMap of the settings; null = there is none.
bool offers_storage(const kube::Object* config_map);
/// Whether the StorageClasses for volumes at home and for those of consumers exist, as the ConfigMap of the settings
/// names them. No value if storage is switched off.
std::optional<Finding> judge_storage(const kube::Object* config_map, const std::vector<kube::Object>& storage_classes);

/// Whether the Quotas of consumers have free resources. A Quota that is used up is no fault: its consumer may want it
/// so. One that is cordoned or drained takes no new pods in any case.
Finding judge_quotas(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& tenants = {});

/// Whether the nodes have what all Quotas grant together. Granting more is no fault: a provider may do so, because not
/// all consumers use it at once. Each slice is given `pods` and `ephemeral-storage` by default. What a slice has not
/// named of these counts with the amount that its pods hold, and so does all of a drained Quota. No value if nothing is
/// granted and the nodes have what is held, or if no node is known. `tenants`: the consumers of this cluster.
std::optional<Finding> judge_capacity(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& nodes,
                                      const std::vector<kube::Object>& tenants = {});

/// k3s and RKE2 reach kubelets through tunnels, which virtual nodes do not have. No value if the cluster is of another
/// kind.
std::optional<Finding> judge_egress_selector(const std::vector<kube::Object>& nodes);

/// Selects the Deployments of the Go version's virtual kubelets.
inline constexpr std::string_view virtual_kubelets = "offloading.liqo.io/component=virtual-kubelet";
/// Virtual kubelets would write the same Nodes and pods as liqod. No value if there is none.
std::optional<Finding> judge_virtual_kubelets(const std::vector<kube::ObjectKey>& deployments);

/// One finding for each peer. A peer that is cordoned, drained or being deleted is no fault: an operator wants it so.
std::vector<Finding> judge_peers(const std::vector<kube::Object>& peers, const ClosingObjects& objects = {});

/// Moves a daemon that does not run to the front, and behind it webhooks that the API server does not reach. The same
/// cause keeps it from the rest, and nothing new is admitted meanwhile.
void put_first_things_first(std::vector<Finding>& findings);
bool all_well(const std::vector<Finding>& findings);
/// One line for each finding.
std::string render(const std::vector<Finding>& findings, const text::Palette& palette);
kube::json::object document(const std::vector<Finding>& findings);

}  // namespace liqoctl::model
