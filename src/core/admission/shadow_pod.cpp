#include "liqo/core/admission/shadow_pod.hpp"

#include <algorithm>

#include "liqo/api/labels.hpp"
#include "liqo/core/admission/patch.hpp"
#include "liqo/core/admission/pod_firewall.hpp"
#include "liqo/core/mapping/names.hpp"
#include "liqo/core/quoted.hpp"

namespace liqo::core::admission {
namespace labels = api::labels;
namespace {

bool is_empty(const json::value& value) {
  if (const json::object* object = value.if_object()) return object->empty();
  if (const json::array* array = value.if_array()) return array->empty();
  if (const json::string* text = value.if_string()) return text->empty();
  return value.is_null();
}

/// Fields of the pod, and of each container in the lists named, that may change while a pod lives.
bool may_change(std::string_view path, std::string_view field) {
  if (path.empty()) return field == "activeDeadlineSeconds" || field == "tolerations";
  return field == "image" && (path.starts_with("containers[") || path.starts_with("initContainers[")) &&
         !path.contains('.');
}

std::optional<std::string> difference(const json::value& before, const json::value& after, const std::string& path);

std::optional<std::string> difference(const json::object& before, const json::object& after, const std::string& path) {
  const auto inner = [&path](std::string_view field) {
    return path.empty() ? std::string(field) : path + "." + std::string(field);
  };
  for (const auto& [key, value] : before) {
    if (may_change(path, key)) continue;
    const json::value* now = after.if_contains(key);
    if (auto found = difference(value, now ? *now : json::value(), inner(key))) return found;
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key) && !may_change(path, key) && !is_empty(value)) return inner(key);
  return std::nullopt;
}

std::optional<std::string> difference(const json::value& before, const json::value& after, const std::string& path) {
  if (is_empty(before) && is_empty(after)) return std::nullopt;
  if (before.is_object() && after.is_object()) return difference(before.get_object(), after.get_object(), path);
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

const json::object& pod_of(const kube::Object& shadow) { return kube::object_at(shadow.spec(), {"pod"}); }

/// True for the identities of that consumer's slices: their certificates name it as their organisation.
bool is_slice_user(const User& user, std::string_view origin) { return !origin.empty() && user.is_in(origin); }

Answer refuse_pod(const kube::Object& shadow, const std::vector<Finding>& findings) {
  return Answer::deny("pod " + std::string(shadow.name()) + " may not run in this cluster: " + describe(findings));
}

Answer validate_create(const Request& request, const TwinNamespace& twin) {
  const kube::Object& shadow = request.object;
  const std::string_view origin = shadow.label(labels::reflection_origin);
  if (origin.empty())
    return Answer::deny("the label " + std::string(labels::reflection_origin) +
                        " is missing: a ShadowPod has to name the cluster that it comes from");
  if (twin.remote_cluster != origin)
    return Answer::deny("namespace " + request.ns +
                        (twin.remote_cluster.empty() ? " belongs to no consumer"
                                                     : " belongs to the consumer " + in_quotes(twin.remote_cluster)) +
                        ", but the ShadowPod names " + in_quotes(origin) + " as its origin");
  const std::string creator = escape_user(request.user.name);
  if (creator.empty() || shadow.label(labels::creator_user) != creator)
    return Answer::deny("the label " + std::string(labels::creator_user) + " must be " + in_quotes(creator) +
                        ", who creates the ShadowPod; it is " + in_quotes(shadow.label(labels::creator_user)));
  if (!is_label_value(creator))
    return Answer::deny(
        "user " + in_quotes(request.user.name) +
        " cannot create ShadowPods: the name does not fit into a label, so no quota can be found by it");
  if (kube::array_at(pod_of(shadow), {"containers"}).empty())
    return Answer::invalid("spec.pod.containers is empty: a ShadowPod has to describe a pod");
  std::vector<Finding> findings = check_pod(pod_of(shadow), twin.policy);
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
                        "comes from " + in_quotes(origin));
  const std::string creator = escape_user(request.user.name);
  const bool by_consumer = is_slice_user(request.user, origin);
  const std::string_view had = before.label(labels::creator_user);
  const std::string_view has = after.label(labels::creator_user);
  if (had.empty() ? !has.empty() && (!by_consumer || has != creator) : has != had)
    return Answer::deny("the label " + std::string(labels::creator_user) +
                        " cannot be changed: it tells whose quota the pod draws on");
  if (by_consumer && !had.empty() && had != creator)
    return Answer::deny("the ShadowPod belongs to the identity " + in_quotes(had) + ", not to " + in_quotes(creator) +
                        ": each virtual node only writes its own");
  if (auto path = frozen_difference(pod_of(before), pod_of(after)))
    return Answer::deny("spec.pod." + *path +
                        " cannot be changed: of a ShadowPod only images, activeDeadlineSeconds and tolerations can");
  // Of what the firewall looks at only tolerations and annotations can be new here, and what was stored before there
  // was a rule against it can still be updated.
  const auto found_in = [&twin](const kube::Object& shadow) {
    json::object changeable;
    if (const json::value* tolerations = pod_of(shadow).if_contains("tolerations"))
      changeable["tolerations"] = *tolerations;
    std::vector<Finding> found = check_pod(changeable, twin.policy);
    for (Finding& finding : check_pod_metadata(shadow, twin.policy)) found.push_back(std::move(finding));
    return found;
  };
  const std::vector<Finding> known = found_in(before);
  std::vector<Finding> findings = found_in(after);
  std::erase_if(findings,
                [&known](const Finding& finding) { return std::ranges::find(known, finding) != known.end(); });
  if (!findings.empty()) return refuse_pod(after, findings);
  return Answer::allow();
}

}  // namespace

std::string escape_user(std::string_view user) {
  std::string escaped(user);
  for (char& c : escaped) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!kept) c = '-';
  }
  return escaped;
}

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

Answer validate_shadow_pod(const Request& request, const TwinNamespace& twin) {
  if (request.operation == Operation::create) return validate_create(request, twin);
  if (request.operation == Operation::update) return validate_update(request, twin);
  return Answer::allow();
}

std::optional<std::string> frozen_difference(const json::object& before, const json::object& after) {
  return difference(before, after, "");
}

}  // namespace liqo::core::admission
