// What `liqoctl check` makes of what it has seen: for each thing that it looks at, whether it is well, or the sentence
// that says what to do. Pure.
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

/// `ahead`: how far the API server's clock is ahead of this machine's; nothing where it does not tell the time.
Finding judge_clock(std::optional<std::chrono::seconds> ahead);

/// `wanted` are the manifests of this version's chart, `there` the CustomResourceDefinitions of the cluster.
Finding judge_kinds(const std::vector<kube::json::value>& wanted, const std::vector<kube::Object>& there);
/// Likewise for roles, which must have the rules of the chart, and their bindings.
Finding judge_rights(const std::vector<kube::json::value>& wanted, const std::vector<kube::Object>& there);

/// What keeps a pod from running: that its image cannot be pulled, what its container waits for, or why it has no node.
/// "" = nothing that it shows.
std::string trouble_of(const kube::Object& pod);

/// `trouble`: what keeps the Deployment from running, "" = nothing.
Finding judge_daemon(const kube::Object* deployment, std::string_view trouble);
/// What to say of a daemon that does not run, as the rest of a sentence about it; "" where a replica answers, or nobody
/// can tell: there is no Deployment, or nobody has looked after it yet. `is_ours`: whoever reads it runs that cluster.
std::string daemon_alert(const kube::Object* deployment, bool is_ours = true);
/// The versions of the daemon here, of the peer's, and of this program; "" = not known, and nothing to compare.
Finding judge_versions(std::string_view here, std::string_view peer, std::string_view program);

/// `configurations`: how many of the two there are. `refusal`: what the API server said to an object that the webhooks
/// refuse; nothing where it took it.
Finding judge_webhooks(const kube::Object* deployment, std::size_t configurations,
                       const std::optional<std::string>& refusal);

struct Certificate {
  struct Times {
    kube::WallTime from, until;
  };
  std::string what;
  std::optional<Times> times;  ///< nothing: it cannot be read
};
/// Certificates are renewed after two thirds of their time; one with a sixth left was missed.
Finding judge_certificates(const std::vector<Certificate>& certificates, kube::WallTime now);

/// Where consumers are sent: what they were told already, else what the daemon will tell. "" = it cannot tell any.
struct ApiServerAddress {
  std::string url;
  std::string ca_pem;      ///< "" = the cluster's own
  bool public_ca = false;  ///< the authorities that their systems trust
  bool through_proxy = false;
};
ApiServerAddress told_address(const kube::Object* deployment, const std::vector<kube::Object>& tenants,
                              const std::vector<kube::Object>& nodes, std::string_view own_server);
/// `trouble`: why it was not reached, "" = it was.
Finding judge_address(const ApiServerAddress& address, std::string_view trouble);

/// The first VirtualNode that has no Node, because another one has its name; nothing where each has its own.
std::optional<Finding> judge_node_names(const std::vector<kube::Object>& virtual_nodes);

/// Virtual nodes, each with the failure of a request that went through the API server to its kubelet API, "" =
/// answered.
Finding judge_kubelet_api(const std::vector<std::pair<std::string, std::string>>& answers);

/// The answer of the metrics port, asked through the API server and its Service. `trouble`: why it was not reached, ""
/// = it was; `confined`: a NetworkPolicy names those who may.
struct MetricsLook {
  bool has_service = false, confined = false;
  std::string trouble;
};
Finding judge_metrics(const kube::Object* deployment, const MetricsLook& look);
/// Whether the chart's NetworkPolicy names who reaches this port.
bool is_confined(const kube::Object& network_policy, std::string_view port);
/// The port of the metrics, and whether it is HTTPS, by the daemon's arguments.
std::string_view metrics_port(const kube::Object* deployment);
bool has_secure_metrics(const kube::Object* deployment);

/// What consumers are told of their pods' use.
struct UsageLook {
  const kube::Object* api_service = nullptr;  ///< v1beta1.metrics.liqo.io; null = there is none
  std::string_view ns;                        ///< where the daemon's Service is
  bool has_front_proxy = true;                ///< the API server has a CA of its front proxy
};
Finding judge_figures(const kube::Object* deployment, const UsageLook& look);

/// The account as which the daemon asks kubelets, and what the API server says of the rights that it takes; nothing: it
/// does not say.
struct UsageAccount {
  bool exists = false;
  std::optional<bool> may_liqod_have_token, may_read_figures;
};
/// Whether the daemon can ask kubelets. Nothing where it does not have to, as `metricAgent.enabled` says.
std::optional<Finding> judge_figures_account(const kube::Object* deployment, const UsageAccount& account,
                                             std::string_view ns);

/// Whether the ranges declared for peers' pods are apart from those of this cluster.
Finding judge_ranges(const std::vector<kube::Object>& peers, const std::vector<OwnRange>& own);

/// Whether everything can be read that the provider's settings say: the ConfigMap, null = there is none, and the
/// annotations of Tenants.
Finding judge_sharing(const kube::Object* config_map, const std::vector<kube::Object>& tenants);

/// Whether storage is switched on in the ConfigMap of the settings; null = there is none.
bool offers_storage(const kube::Object* config_map);
/// Whether the class of the volumes at home and of those that consumers get is there, as the ConfigMap of the settings
/// names it; nothing where storage is switched off.
std::optional<Finding> judge_storage(const kube::Object* config_map, const std::vector<kube::Object>& storage_classes);

/// What is left of what was granted to others. A Quota that is used up is a state: its consumer may want it so. One
/// that is cordoned or drained takes no new pods in any case.
Finding judge_quotas(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& tenants = {});

/// Whether the nodes have what all Quotas grant together. More is a state: a provider may lend it, because not all use
/// it at once. Of `pods` and `ephemeral-storage`, which each slice is given by default, what a slice has not named
/// counts with what its pods hold, and so does all of a drained Quota. Nothing where nothing is granted and the nodes
/// have what is held, or no node is known. `tenants`: the consumers of this cluster.
std::optional<Finding> judge_capacity(const std::vector<kube::Object>& quotas, const std::vector<kube::Object>& nodes,
                                      const std::vector<kube::Object>& tenants = {});

/// k3s and RKE2 reach kubelets through tunnels, which virtual nodes do not have. Nothing where the cluster is of
/// another kind.
std::optional<Finding> judge_egress_selector(const std::vector<kube::Object>& nodes);

/// Selects the Deployments of the Go version's virtual kubelets.
inline constexpr std::string_view virtual_kubelets = "offloading.liqo.io/component=virtual-kubelet";
/// Virtual kubelets would write the same Nodes and pods as liqod. Nothing where there is none.
std::optional<Finding> judge_virtual_kubelets(const std::vector<kube::ObjectKey>& deployments);

/// One finding for each peer. What is cordoned, drained or being deleted is a state: somebody wants it so.
std::vector<Finding> judge_peers(const std::vector<kube::Object>& peers, const ClosingObjects& objects = {});

/// A daemon that does not run comes first, and after it webhooks that the API server does not reach: what keeps it from
/// them keeps it from the rest, and while it does nothing new is admitted.
void put_first_things_first(std::vector<Finding>& findings);
bool all_well(const std::vector<Finding>& findings);
/// A line for each.
std::string render(const std::vector<Finding>& findings, const text::Palette& palette);
kube::json::object document(const std::vector<Finding>& findings);

}  // namespace liqoctl::model
