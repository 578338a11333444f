#include "core/admission/shadow_pod.hpp"

#include <algorithm>
#include <utility>

#include "core/admission/claims.hpp"
#include "core/admission/ephemeral_containers.hpp"
#include "core/admission/patch.hpp"
#include "core/admission/pod_metadata.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/common/json_values.hpp"
#include "core/common/names.hpp"
#include "core/quota/quota_user.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::admission {
namespace labels = api::labels;
namespace {

/// Whether the field may change while a pod lives; `path` is that of its parent in the pod or in a container.
bool may_change(std::string_view path, std::string_view field) {
  const bool is_amount = field == "cpu" || field == "memory";
  if (path == "resources.requests" || path == "resources.limits") return is_amount;
  if (path.empty()) return field == "activeDeadlineSeconds" || field == "tolerations" || field == "ephemeralContainers";
  if (!path.starts_with("containers[") && !path.starts_with("initContainers[")) return false;
  const std::string_view inner = path.substr(std::min(path.find(']'), path.size()));
  if (inner == "]") return field == "image";
  return (inner == "].resources.requests" || inner == "].resources.limits") && is_amount;
}

std::optional<std::string> difference(const json::value& before, const json::value& after, const std::string& path);

std::optional<std::string> difference(const json::object& before, const json::object& after, const std::string& path) {
  const auto inner = [&path](std::string_view field) {
    return path.empty() ? std::string(field) : path + "." + std::string(field);
  };
  for (const auto& [key, value] : before) {
    if (may_change(path, key)) continue;
    const json::value* changed = after.if_contains(key);
    if (auto found = difference(value, changed ? *changed : json::value(), inner(key))) return found;
  }
  for (const auto& [key, value] : after) {
    if (before.contains(key) || may_change(path, key)) continue;
    if (auto found = difference(json::value(), value, inner(key))) return found;
  }
  return std::nullopt;
}

std::optional<std::string> difference(const json::value& before, const json::value& after, const std::string& path) {
  if (is_empty(before) && is_empty(after)) return std::nullopt;
  // A missing object compares like an empty one, so its fields may be added if they may change.
  if ((before.is_object() || is_empty(before)) && (after.is_object() || is_empty(after)))
    return difference(before.is_object() ? before.get_object() : json::object(),
                      after.is_object() ? after.get_object() : json::object(), path);
  if (before.is_array() && after.is_array()) {
    const json::array& had = before.get_array();
    const json::array& has = after.get_array();
    if (had.size() != has.size()) return path;
    for (std::size_t i = 0; i < had.size(); ++i)
      if (auto found = difference(had[i], has[i], path + "[" + std::to_string(i) + "]")) return found;
    return std::nullopt;
  }
  if (before == after) return std::nullopt;
  return path;
}

/// Pods of real applications have a few kilobytes.
constexpr std::size_t max_spec_bytes = 128 * 1024;

std::size_t spec_bytes(const kube::Object& shadow) { return json::serialize(shadow.spec()).size(); }

Answer refuse_size(std::size_t bytes) {
  return Answer::deny("the spec of a ShadowPod can have " + std::to_string(max_spec_bytes) +
                      " bytes, and this one has " + std::to_string(bytes) +
                      ": put large texts of the pod into a ConfigMap");
}

const json::object& pod_of(const kube::Object& shadow) { return kube::object_at(shadow.spec(), {"pod"}); }

/// Whether the user is the identity of one of that consumer's slices: their certificates have the consumer as
/// organisation.
bool is_slice_user(const User& user, std::string_view origin) { return !origin.empty() && user.is_in(origin); }

Answer refuse_pod(const kube::Object& shadow, const std::vector<Finding>& findings) {
  return Answer::deny("pod " + std::string(shadow.name()) + " may not run in this cluster: " + describe(findings));
}

constexpr std::size_t max_uid_bytes = 64;

/// What is wrong with namespace, name or uid of the ShadowPod, "" if nothing. Its reservation is recorded and found by
/// these. API servers fill them in before they ask.
std::string check_identity(const Request& request) {
  const kube::Object& shadow = request.object;
  if (shadow.ns() != request.ns || !is_dns_label(request.ns))
    return "metadata.namespace must be the namespace that it is created in, " + kube::in_quotes(request.ns) +
           "; it is " + kube::in_quotes(shadow.ns());
  if (!is_dns_subdomain(shadow.name()))
    return "metadata.name must be a DNS subdomain of at most 253 characters; it is " + kube::in_quotes(shadow.name());
  if (shadow.uid().empty() || shadow.uid().size() > max_uid_bytes)
    return "metadata.uid must have 1 to " + std::to_string(max_uid_bytes) + " characters; it has " +
           std::to_string(shadow.uid().size());
  return {};
}

Answer validate_create(const Request& request, const TwinNamespace& twin) {
  const kube::Object& shadow = request.object;
  const std::string_view origin = shadow.label(labels::reflection_origin);
  if (origin.empty())
    return Answer::deny("the label " + std::string(labels::reflection_origin) +
                        " is missing: a ShadowPod has to name the cluster that it comes from");
  if (twin.remote_cluster != origin)
    return Answer::deny("namespace " + request.ns +
                        (twin.remote_cluster.empty()
                             ? " belongs to no consumer"
                             : " belongs to the consumer " + kube::in_quotes(twin.remote_cluster)) +
                        ", but the ShadowPod names " + kube::in_quotes(origin) + " as its origin");
  const std::string creator = escape_user(request.user.name);
  if (creator.empty() || shadow.label(labels::creator_user) != creator)
    return Answer::deny("the label " + std::string(labels::creator_user) + " must be " + kube::in_quotes(creator) +
                        ", who creates the ShadowPod; it is " + kube::in_quotes(shadow.label(labels::creator_user)));
  if (!is_label_value(creator))
    return Answer::deny(
        "user " + kube::in_quotes(request.user.name) +
        " cannot create ShadowPods: the name does not fit into a label, so no quota can be found by it");
  if (std::string problem = check_identity(request); !problem.empty()) return Answer::invalid(std::move(problem));
  if (const std::size_t bytes = spec_bytes(shadow); bytes > max_spec_bytes) return refuse_size(bytes);
  if (kube::array_at(pod_of(shadow), {"containers"}).empty())
    return Answer::invalid("spec.containers is empty: a ShadowPod has to describe a pod");
  if (std::string problem = refuse_ephemeral({}, pod_of(shadow), twin.policy); !problem.empty())
    return Answer::deny("pod " + std::string(shadow.name()) + " may not run in this cluster: " + problem);
  std::vector<Finding> findings = check_pod(pod_of(shadow), twin.policy);
  for (Finding& finding : check_claim_templates(pod_of(shadow), twin.policy, twin.offered_classes))
    findings.push_back(std::move(finding));
  for (Finding& finding : check_pod_metadata(shadow, twin.policy)) findings.push_back(std::move(finding));
  if (!findings.empty()) return refuse_pod(shadow, findings);
  return Answer::allow();
}

Answer validate_update(const Request& request, const TwinNamespace& twin) {
  const kube::Object& before = request.old_object;
  const kube::Object& after = request.object;
  const std::string_view origin = before.label(labels::reflection_origin);
  if (after.label(labels::reflection_origin) != origin)
    return Answer::deny("the label " + std::string(labels::reflection_origin) + " cannot be changed: the ShadowPod " +
                        "comes from " + kube::in_quotes(origin));
  const std::string creator = escape_user(request.user.name);
  const bool by_consumer = is_slice_user(request.user, origin);
  const std::string_view had = before.label(labels::creator_user);
  const std::string_view has = after.label(labels::creator_user);
  if (had.empty() ? !has.empty() && (!by_consumer || has != creator) : has != had)
    return Answer::deny("the label " + std::string(labels::creator_user) +
                        " cannot be changed: it tells whose quota the pod draws on");
  if (by_consumer && !had.empty() && had != creator)
    return Answer::deny("the ShadowPod belongs to the identity " + kube::in_quotes(had) + ", not to " +
                        kube::in_quotes(creator) + ": each virtual node only writes its own");
  if (const std::string_view refused = after.annotation(api::annotations::refused);
      by_consumer && !refused.empty() && refused != before.annotation(api::annotations::refused))
    return Answer::deny("the annotation " + std::string(api::annotations::refused) +
                        " cannot be changed: by it this cluster tells the consumer why the pod does not start");
  if (const std::size_t bytes = spec_bytes(after); bytes > max_spec_bytes && bytes > spec_bytes(before))
    return refuse_size(bytes);
  if (auto path = frozen_difference(pod_of(before), pod_of(after)))
    return Answer::deny(
        "spec." + *path +
        " cannot be changed: of a ShadowPod only images, requests and limits of cpu and memory, activeDeadlineSeconds "
        "and tolerations can, and ephemeral containers can be added");
  if (std::string problem = refuse_ephemeral(pod_of(before), pod_of(after), twin.policy); !problem.empty())
    return Answer::deny("pod " + std::string(after.name()) + " may not become so in this cluster: " + problem);
  // The firewall looks only at fields that an update can change: ephemeral containers, tolerations, labels and
  // annotations. What was stored before a rule forbade it does not stop an update.
  const auto found_in = [&twin](const kube::Object& shadow) {
    json::object changeable;
    for (std::string_view field : {"tolerations", "ephemeralContainers"})
      if (const json::value* value = pod_of(shadow).if_contains(field)) changeable[field] = *value;
    std::vector<Finding> found = check_pod(changeable, twin.policy, all_findings);
    for (Finding& finding : check_pod_metadata(shadow, twin.policy, all_findings)) found.push_back(std::move(finding));
    return found;
  };
  std::vector<Finding> findings = found_in(after);
  keep_new(findings, found_in(before));
  if (!findings.empty()) return refuse_pod(after, findings);
  return Answer::allow();
}

}  // namespace

Answer mutate_shadow_pod(const Request& request) {
  Answer answer;
  const std::string creator = escape_user(request.user.name);
  if (request.operation == Operation::create) {
    if (creator.empty()) return Answer::deny("a ShadowPod cannot be created by a user without a name");
    set_label(answer.patch, request.object, labels::creator_user, creator);
  } else if (request.operation == Operation::update && request.object.label(labels::creator_user).empty()) {
    const std::string_view had = request.old_object.label(labels::creator_user);
    if (!had.empty())
      set_label(answer.patch, request.object, labels::creator_user, had);
    else if (is_slice_user(request.user, request.old_object.label(labels::reflection_origin)))
      set_label(answer.patch, request.object, labels::creator_user, creator);
  }
  return answer;
}

bool is_resize(const Request& request) {
  if (request.operation != Operation::update || !request.subresource.empty()) return false;
  // The amounts are compared as written: those that cannot be read are for the quota to refuse.
  if (kube::object_at(pod_of(request.old_object), {"resources"}) !=
      kube::object_at(pod_of(request.object), {"resources"}))
    return true;
  for (std::string_view list : {"containers", "initContainers"}) {
    const json::array& before = kube::array_at(pod_of(request.old_object), {list});
    const json::array& after = kube::array_at(pod_of(request.object), {list});
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
      if (kube::object_at(before[i], {"resources"}) != kube::object_at(after[i], {"resources"})) return true;
  }
  return false;
}

Answer validate_shadow_pod(const Request& request, const TwinNamespace& twin) {
  if (request.operation == Operation::create) return validate_create(request, twin);
  if (request.operation == Operation::update) return validate_update(request, twin);
  return Answer::allow();
}

std::string refuse_stored(const StoredAmount& stored, const PodPolicy& policy, bool figures) {
  const auto [objects, bytes] = stored;
  if (!figures)
    return std::cmp_greater_equal(objects, policy.max_shadow_pods) ||
                   std::cmp_greater_equal(bytes, policy.max_shadow_pod_bytes)
               ? "this cluster stores as many pods of the consumer as it may have"
               : "";
  const std::string way_out = ": delete some, finished pods among them, or ask the provider for more (";
  if (std::cmp_greater_equal(objects, policy.max_shadow_pods))
    return "this cluster stores " + std::to_string(objects) + " pods of the consumer already, and " +
           std::to_string(policy.max_shadow_pods) + " is what it may have" + way_out + "maxShadowPods in the policy)";
  if (std::cmp_greater_equal(bytes, policy.max_shadow_pod_bytes))
    return "the pods of the consumer that this cluster stores have " + std::to_string(bytes) + " bytes already, and " +
           std::to_string(policy.max_shadow_pod_bytes) + " is what they may have" + way_out +
           "maxShadowPodBytes in the policy)";
  return {};
}

std::string refuse_growth(const Request& request, const StoredAmount& stored, const PodPolicy& policy, bool figures) {
  if (request.operation == Operation::create) return refuse_stored(stored, policy, figures);
  const bool grows = request.operation == Operation::update &&
                     is_of_consumer(request.user, request.object.label(labels::reflection_origin)) &&
                     request.object.text().size() > request.old_object.text().size();
  return grows ? refuse_stored({.objects = 0, .bytes = stored.bytes}, policy, figures) : std::string();
}

std::optional<std::string> frozen_difference(const json::object& before, const json::object& after) {
  // Pod-level resources cannot be added or removed while a pod lives.
  if (kube::object_at(before, {"resources"}).empty() != kube::object_at(after, {"resources"}).empty())
    return "resources";
  return difference(before, after, "");
}

}  // namespace liqo::core::admission
