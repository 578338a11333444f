// Admission of the kinds of peering: ResourceSlice, Tenant, ForeignCluster.
#include <utility>

#include "core/admission/callers.hpp"
#include "core/admission/patch.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/admission/validations.hpp"
#include "core/common/names.hpp"
#include "core/common/resources.hpp"
#include "core/peering/decisions.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/request.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core::admission {
namespace labels = api::labels;
namespace {

std::string_view cluster_id(const kube::Object& object) { return kube::string_at(object.spec(), {"clusterID"}); }

}  // namespace

std::string check_resources(const json::value* resources, std::string_view path) {
  if (!resources || resources->is_null()) return "";
  const json::object* entries = resources->if_object();
  if (!entries) return std::string(path) + " must map names of resources to quantities";
  const auto read = read_resources(*entries);
  return read ? "" : std::string(path) + ": " + kube::printable(kube::cut_text(read.error().text(), max_mistake));
}

Answer validate_resource_slice(const Request& request, std::span<const std::string> namesakes) {
  if (Answer answer = check_replica(request); !answer.allowed) return answer;
  if (!request.writes_object()) return Answer::allow();
  const bool is_new = request.operation == Operation::create;
  const kube::Object& slice = request.object;
  if (is_new) {
    if (slice.name().size() > max_slice_name)
      return Answer::invalid("the name of a ResourceSlice can have " + std::to_string(max_slice_name) +
                             " characters at most, and this one has " + std::to_string(slice.name().size()) +
                             ": it becomes part of a label on each of its pods");
    if (slice.label(labels::replicated) != "true" && !namesakes.empty())
      return Answer::deny("there is " + namesakes.front() +
                          " already: the node of this slice would have the same name, so another one is needed");
  }
  // An update without other resources passes whatever is stored, so that finalizers can be removed.
  const json::value* asked = kube::find(slice.spec(), {"resources"});
  const json::value* before = kube::find(request.old_object.spec(), {"resources"});
  if (!is_new && asked && before && *asked == *before) return Answer::allow();
  if (const std::string mistake = check_resources(asked, "spec.resources"); !mistake.empty())
    return Answer::invalid(mistake);
  const api::ResourceSlice view(slice);
  if (const std::size_t named = view.requested().size();
      named > max_slice_resources && is_built_in_class(view.slice_class()))
    return Answer::invalid("spec.resources names " + std::to_string(named) +
                           " resources, and a ResourceSlice can have " + std::to_string(max_slice_resources) +
                           " at most: leave some out");
  return Answer::allow();
}

bool asks_for_more(const Request& request) { return request.operation == Operation::create && is_tenant(request.user); }

Answer check_amount(std::string_view plural, std::size_t have, std::int64_t max_amount) {
  if (std::cmp_less(have, max_amount)) return Answer::allow();
  return Answer::deny("there are " + std::to_string(have) + " " + std::string(plural) +
                      " of this consumer already, and " + std::to_string(max_amount) +
                      " is what it may have: delete one, or ask the provider for more " + "(maxObjects in the policy)");
}

Answer mutate_tenant(const Request& request, std::string_view decisions) {
  Answer answer;
  if (!request.writes()) return answer;
  const std::string_view id = cluster_id(request.object);
  if (!id.empty() && !request.object.has_label(labels::remote_cluster_id))
    set_label(answer.patch, request.object, labels::remote_cluster_id, id);
  if (request.operation != Operation::create || !is_tenant(request.user) || decisions.empty()) return answer;
  kube::Object wanted = request.object;
  recall_decisions(decisions, wanted);
  if (wanted.spec() != request.object.spec())
    set_spec_field(answer.patch, request.object, "tenantCondition", wanted.spec().at("tenantCondition"));
  if (wanted.annotations() != request.object.annotations())
    answer.patch.push_back(
        json::object{{"op", "add"}, {"path", "/metadata/annotations"}, {"value", wanted.annotations()}});
  return answer;
}

Answer validate_tenant(const Request& request, const TenantSurroundings& around) {
  if (!request.writes()) return Answer::allow();
  const bool is_new = request.operation == Operation::create;
  // A Tenant that is being deleted passes, so that its finalizers can be removed.
  if (!is_new && request.object.is_deleting() && !is_tenant(request.user)) return Answer::allow();
  if (Answer answer = check_tenant_writer(request, around.decisions); !answer.allowed) return answer;
  // The status says nothing about where the Tenant belongs.
  if (!request.subresource.empty()) return Answer::allow();
  const kube::Object& tenant = request.object;
  if (!around.is_tenant_namespace)
    return Answer::invalid("namespace " + request.ns + " is not the tenant namespace of a cluster: a Tenant belongs " +
                           "into one with the label " + std::string(labels::tenant_namespace) + "=true");
  const std::string_view id = cluster_id(tenant);
  if (tenant.label(labels::remote_cluster_id) != id)
    return Answer::invalid("the label " + std::string(labels::remote_cluster_id) + " is " +
                           kube::in_quotes(tenant.label(labels::remote_cluster_id)) + " and spec.clusterID is " +
                           kube::in_quotes(id) + ": both name the consumer and must be equal");
  if (around.namespace_cluster != id)
    return Answer::deny("namespace " + request.ns + " is the tenant namespace of " +
                        kube::in_quotes(around.namespace_cluster) + ": a Tenant for " + kube::in_quotes(id) +
                        " does not belong there");
  if (is_new && !around.in_namespace.empty())
    return Answer::deny("namespace " + request.ns + " has a Tenant already, " + around.in_namespace.front());
  if (is_new && !around.namesakes.empty())
    return Answer::deny("there is a Tenant of that name already, in namespace " + around.namesakes.front());
  if (is_new && !around.owned_namespace.empty())
    return Answer::deny("cluster ID " + kube::in_quotes(id) +
                        " cannot be admitted: twins of a consumer have names that end in " +
                        "its ID, and so has namespace " + around.owned_namespace + ", which is not a twin: give the " +
                        "consumer another ID, or say which names its twins may have (twinNames in the annotation " +
                        std::string(api::annotations::pod_policy) + " of namespace " + request.ns +
                        ", which liqoctl peer --allow-twin-names sets)");
  return Answer::allow();
}

Answer mutate_foreign_cluster(const Request& request) {
  if (auto probe = answer_probe(request)) return std::move(*probe);
  Answer answer;
  if (!request.writes()) return answer;
  if (const std::string_view id = cluster_id(request.object); !id.empty())
    set_label(answer.patch, request.object, labels::remote_cluster_id, id);
  return answer;
}

}  // namespace liqo::core::admission
