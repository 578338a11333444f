// The namespaces with the policies of consumers, and whether those policies can be read.
#include <algorithm>

#include "core/admission/tenant_policy.hpp"
#include "core/common/nearest.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "model/findings.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "text/shown.hpp"

namespace liqoctl::model {
namespace {

namespace admission = liqo::core::admission;
namespace core = liqo::core;
namespace labels = liqo::api::labels;
using kube::Errc;
using text::shown;

constexpr std::size_t max_named = 3, max_shown = 100;
constexpr std::string_view annotation_key = liqo::api::annotations::pod_policy;

}  // namespace

std::string unknown_consumer(std::string_view id, const std::vector<kube::Object>& tenant_namespaces) {
  std::vector<std::string> known;
  for (const kube::Object& ns : tenant_namespaces)
    if (core::is_tenant_namespace(ns)) known.emplace_back(ns.label(labels::remote_cluster_id));
  const std::string near = core::nearest(id, known);
  return "there is no tenant namespace of cluster " + shown(id, max_shown) + " here" +
         (near.empty() ? " (liqoctl get tenant lists the consumers)"
                       : "; did you mean " + shown(near, max_shown) + "?");
}

kube::Result<void> check_tenant_namespace(std::string_view consumer, const kube::Object& ns) {
  const std::string_view peer = ns.label(labels::remote_cluster_id);
  const std::string where = "namespace " + std::string(ns.name());
  if (!core::is_tenant_namespace(ns))
    return kube::fail(Errc::invalid_input, where + " is no tenant namespace: it lacks the label " +
                                               std::string(labels::tenant_namespace) + "=true");
  if (peer == consumer) return {};
  return kube::fail(Errc::invalid_input, where + " is that of " +
                                             (peer.empty() ? "no cluster" : "cluster " + shown(peer, max_shown)) +
                                             " by its label " + std::string(labels::remote_cluster_id) + ", not of " +
                                             shown(consumer, max_shown));
}

kube::Result<void> check_is_consumer(std::string_view id, const PeerTraces& traces) {
  const bool provides = traces.peer && kube::string_at(traces.peer->status(), {"role"}) == "Provider";
  if (!provides || traces.has_tenant || traces.has_user) return {};
  const std::string name = shown(id, max_shown);
  return kube::fail(Errc::invalid_input,
                    name +
                        " is a provider of this cluster, not a consumer: a policy here would limit nothing; the "
                        "operator of " +
                        name + " sets limits there");
}

void add_policies(std::vector<kube::Object>& tenants, const std::vector<kube::Object>& namespaces) {
  for (kube::Object& tenant : tenants) {
    const auto ns = std::ranges::find(namespaces, tenant.ns(), [](const kube::Object& one) { return one.name(); });
    // A consumer may have written this annotation.
    if (tenant.has_annotation(annotation_key))
      kube::ensure_object(tenant.mutable_metadata(), "annotations").erase(annotation_key);
    const std::string_view consumer = kube::string_at(tenant.spec(), {"clusterID"});
    const bool is_its = ns != namespaces.end() && check_tenant_namespace(consumer, *ns).has_value();
    if (is_its) tenant.set_annotation(annotation_key, ns->annotation(annotation_key));
  }
}

std::string policy_alert(const kube::Object& tenant) {
  const std::string_view policy = tenant.annotation(annotation_key);
  const std::string why = admission::why_unreadable(policy);
  if (why.empty()) return {};
  const std::string consumer = shown(kube::string_at(tenant.spec(), {"clusterID"}), max_shown);
  return "its policy cannot be read (" + why +
         "), so nothing new of it is admitted: " + admission::policy_remedy(policy, consumer);
}

std::optional<Finding> judge_policies(const std::vector<kube::Object>& tenant_namespaces) {
  constexpr std::string_view about = "policies";
  std::vector<std::string> unreadable;
  std::size_t own = 0;
  for (const kube::Object& ns : tenant_namespaces) {
    if (!core::is_tenant_namespace(ns) || ns.annotation(annotation_key).empty()) continue;
    ++own;
    const std::string why = admission::why_unreadable(ns.annotation(annotation_key));
    if (why.empty()) continue;
    const std::string id = shown(ns.label(labels::remote_cluster_id), max_shown);
    if (id.empty()) {
      unreadable.push_back("that of namespace " + std::string(ns.name()) + " (" + why + "): label it with " +
                           std::string(labels::remote_cluster_id) + "=ID, or take it away");
    } else {
      unreadable.push_back("that of " + id + " (" + why +
                           "): " + admission::policy_remedy(ns.annotation(annotation_key), id));
    }
  }
  if (!unreadable.empty())
    return bad(about, "nothing new of a consumer is admitted whose policy cannot be read: " +
                          kube::join_some(unreadable, max_named));
  if (own == 0) return std::nullopt;
  return good(about, counted(own, "is set, and it can be read", "are set, and all can be read"));
}

}  // namespace liqoctl::model
