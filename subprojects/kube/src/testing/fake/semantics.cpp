#include "semantics.hpp"

#include <algorithm>

#include "kube/base/base64.hpp"
#include "pod_rules.hpp"

namespace kube::testing {

bool is_deleting(const json::object& object) { return !string_at(object, {"metadata", "deletionTimestamp"}).empty(); }

bool is_finished(const json::object& pod) {
  const std::string_view phase = string_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

namespace {

bool is_dns_subdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (!is_alnum(name.front()) || !is_alnum(name.back())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_alnum(c) || c == '-' || c == '.'; });
}
/// Names of roles, and of bundles of trust, are no more than what a path can hold: `example.com:web:1`.
bool may_have_colons(const FakeKind& kind) {
  return kind.group == "rbac.authorization.k8s.io" || kind.kind == "ClusterTrustBundle";
}
bool is_path_segment(std::string_view name) {
  return !name.empty() && name.size() <= 253 && name != "." && name != ".." &&
         name.find_first_of("/%") == std::string_view::npos;
}

bool is_label_value(std::string_view value) {
  const auto is_alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (value.empty()) return true;
  if (value.size() > 63 || !is_alnum(value.front()) || !is_alnum(value.back())) return false;
  return std::ranges::all_of(value, [&](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

Answer<> check_metadata(const FakeKind& kind, const json::object& object) {
  const std::string_view name = string_at(object, {"metadata", "name"});
  for (const auto& [key, value] : object_at(object, {"metadata", "labels"})) {
    if (!value.is_string()) return refuse::bad_request("the value of label " + std::string(key) + " is not a string");
    if (!is_label_value(value.get_string()))
      return refuse::invalid({kind.group, kind.kind, name}, "metadata.labels",
                             "Invalid value: \"" + std::string(value.get_string()) + "\"");
  }
  std::size_t annotation_bytes = 0;
  for (const auto& [key, value] : object_at(object, {"metadata", "annotations"})) {
    if (!value.is_string())
      return refuse::bad_request("the value of annotation " + std::string(key) + " is not a string");
    annotation_bytes += key.size() + value.get_string().size();
  }
  if (annotation_bytes > 256 * 1024)
    return refuse::invalid({kind.group, kind.kind, name}, "metadata.annotations",
                           "Too long: may not be more than 262144 bytes");
  return {};
}

void drop_nulls(json::value& value) {
  if (json::object* object = value.if_object()) {
    for (auto at = object->begin(); at != object->end();) {
      if (at->value().is_null()) {
        at = object->erase(at);
      } else {
        drop_nulls(at->value());
        ++at;
      }
    }
  } else if (json::array* array = value.if_array()) {
    for (json::value& element : *array) drop_nulls(element);
  }
}

/// Takes a member over from another object: absent there is absent here.
void copy_member(const json::object& from, json::object& to, std::string_view key) {
  if (const json::value* value = from.if_contains(key))
    to[key] = *value;
  else
    to.erase(key);
}

/// Everything that counts for the generation.
json::object wanted_part(const FakeKind& kind, json::object object) {
  object.erase("metadata");
  if (kind.status_subresource) object.erase("status");
  return object;
}

/// The text of a Secret becomes its data, over what is there.
void fold_text(const FakeKind& kind, json::object& object) {
  if (!is_core(kind, "secrets")) return;
  const json::value* found = object.if_contains("stringData");
  if (!found) return;
  const json::value text = *found;
  object.erase("stringData");
  if (!text.is_object() || text.get_object().empty()) return;
  json::object& data = ensure_object(object, "data");
  for (const auto& [key, value] : text.get_object())
    if (value.is_string()) data[key] = encode_base64(std::string_view(value.get_string()));
}

Answer<> check_finalizers(const FakeKind& kind, const json::object& before, const json::object& after) {
  if (!is_deleting(before)) return {};
  const json::array& old = array_at(before, {"metadata", "finalizers"});
  for (const json::value& finalizer : array_at(after, {"metadata", "finalizers"}))
    if (std::ranges::find(old, finalizer) == old.end())
      return refuse::invalid({kind.group, kind.kind, string_at(before, {"metadata", "name"})}, "metadata.finalizers",
                             "Forbidden: no new finalizers can be added if the object is being deleted");
  return {};
}

}  // namespace

void normalise(json::object& object) {
  for (auto at = object.begin(); at != object.end();) {
    if (at->value().is_null()) {
      at = object.erase(at);
    } else {
      drop_nulls(at->value());
      ++at;
    }
  }
  json::object& metadata = ensure_object(object, "metadata");
  for (std::string_view key : {"labels", "annotations"})
    if (json::value* map = metadata.if_contains(key); map && map->is_object() && map->get_object().empty())
      metadata.erase(key);
  for (std::string_view key : {"finalizers", "ownerReferences"})
    if (json::value* list = metadata.if_contains(key); list && list->is_array() && list->get_array().empty())
      metadata.erase(key);
  metadata.erase("managedFields");
}

Answer<> prepare_create(const FakeKind& kind, std::string_view ns, json::object& object, const Stamp& stamp) {
  normalise(object);
  fold_text(kind, object);
  const std::string_view api_version = string_at(object, {"apiVersion"});
  const std::string_view kind_name = string_at(object, {"kind"});
  if ((!api_version.empty() && api_version != kind.api_version()) || (!kind_name.empty() && kind_name != kind.kind))
    return refuse::bad_request("the object is a " + std::string(api_version) + " " + std::string(kind_name) +
                               ", the path is that of " + kind.api_version() + " " + kind.kind);
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  json::object& metadata = object["metadata"].as_object();
  const std::string_view named_ns = string_at(metadata, {"namespace"});
  if (!named_ns.empty() && named_ns != ns)
    return refuse::bad_request("the namespace of the provided object does not match the namespace sent on the request");
  if (!string_at(metadata, {"resourceVersion"}).empty())
    return refuse::bad_request("resourceVersion should not be set on objects to be created");
  if (kind.namespaced) metadata["namespace"] = ns;
  if (string_at(metadata, {"name"}).empty()) {
    const std::string base(string_at(metadata, {"generateName"}).substr(0, 58));
    if (base.empty())
      return refuse::invalid({kind.group, kind.kind, ""}, "metadata.name",
                             "Required value: name or generateName is required");
    metadata["name"] = base + stamp.suffix;
  }
  // A copy: short strings live inside the tree, which the lines below change.
  const std::string name(string_at(metadata, {"name"}));
  const bool is_valid = may_have_colons(kind) ? is_path_segment(name) : is_dns_subdomain(name);
  if (!is_valid)
    return refuse::invalid({kind.group, kind.kind, name}, "metadata.name", "Invalid value: not a DNS subdomain");
  metadata["uid"] = stamp.uid;
  metadata["creationTimestamp"] = stamp.now;
  metadata.erase("deletionTimestamp");
  metadata.erase("deletionGracePeriodSeconds");
  metadata.erase("generation");
  metadata.erase("selfLink");
  if (kind.generation) metadata["generation"] = 1;
  KUBE_TRYV(check_metadata(kind, object));

  if (is_core(kind, "pods")) {
    if (array_at(object, {"spec", "containers"}).empty())
      return refuse::invalid({kind.group, kind.kind, name}, "spec.containers", "Required value");
    if (!array_at(object, {"spec", "ephemeralContainers"}).empty())
      return refuse::invalid({kind.group, kind.kind, name}, "spec.ephemeralContainers",
                             "Forbidden: cannot be set on create");
    default_pod(object);
    object["status"] = json::object{{"phase", "Pending"}, {"qosClass", qos_class(object)}};
  } else if (is_core(kind, "namespaces")) {
    object["status"] = json::object{{"phase", "Active"}};
  } else if (!is_core(kind, "nodes") && kind.status_subresource) {
    // A Node may be created with its status; nothing else may.
    object.erase("status");
  }
  return {};
}

namespace {

/// What of a ConfigMap or a Secret cannot be changed.
Answer<> check_immutable(const FakeKind& kind, const json::object& before, const json::object& after) {
  const bool is_secret = is_core(kind, "secrets");
  if (!is_secret && !is_core(kind, "configmaps")) return {};
  const auto differs = [&](std::string_view field) {
    const json::value *was = before.if_contains(field), *is = after.if_contains(field);
    return was && is ? *was != *is : was != is;
  };
  const std::string_view name = string_at(after, {"metadata", "name"});
  const auto type_of = [](const json::object& secret) {
    const std::string_view type = string_at(secret, {"type"});
    return type.empty() ? "Opaque" : type;
  };
  if (is_secret && type_of(before) != type_of(after))
    return refuse::invalid({kind.group, kind.kind, name}, "type", "Invalid value: field is immutable");
  if (bool_at(before, {"immutable"}))
    for (std::string_view field : {"immutable", "data", "binaryData"})
      if (differs(field))
        return refuse::invalid({kind.group, kind.kind, name}, field,
                               "Forbidden: field is immutable when `immutable` is set");
  return {};
}

}  // namespace

Answer<> prepare_update(const FakeKind& kind, std::string_view subresource, const json::object& before,
                        json::object& after) {
  normalise(after);
  fold_text(kind, after);
  const json::object& old_metadata = object_at(before, {"metadata"});
  const std::string_view name = string_at(old_metadata, {"name"});
  json::object& metadata = after["metadata"].as_object();

  const std::string_view uid = string_at(metadata, {"uid"});
  if (!uid.empty() && uid != string_at(old_metadata, {"uid"}))
    return refuse::conflict(kind.group, kind.plural, name,
                            "Precondition failed: UID in precondition: " + std::string(uid) +
                                ", UID in object meta: " + std::string(string_at(old_metadata, {"uid"})));
  const std::string_view version = string_at(metadata, {"resourceVersion"});
  if (!version.empty() && version != "0" && version != string_at(old_metadata, {"resourceVersion"}))
    return refuse::stale(kind.group, kind.plural, name);

  after["apiVersion"] = kind.api_version();
  after["kind"] = kind.kind;
  for (std::string_view key : {"name", "namespace", "generateName", "uid", "resourceVersion", "creationTimestamp",
                               "deletionTimestamp", "deletionGracePeriodSeconds", "generation"})
    copy_member(old_metadata, metadata, key);

  const bool is_pod = is_core(kind, "pods");
  if (subresource == "status") {
    if (kind.custom) {
      json::object only_status = before;
      copy_member(after, only_status, "status");
      after = std::move(only_status);
    } else {
      copy_member(before, after, "spec");
      if (is_pod) {
        copy_member(old_metadata, metadata, "ownerReferences");
        KUBE_TRYV(check_pod_status_update(kind, before, after));
      }
    }
  } else if (is_pod && subresource == "ephemeralcontainers") {
    KUBE_TRYV(add_ephemeral_containers(kind, before, after));
  } else if (is_pod && subresource == "resize") {
    keep_only_resources(before, after);
  } else if (kind.status_subresource) {
    copy_member(before, after, "status");
  }
  KUBE_TRYV(check_metadata(kind, after));
  KUBE_TRYV(check_finalizers(kind, before, after));
  KUBE_TRYV(check_immutable(kind, before, after));
  if (is_pod && subresource.empty()) {
    default_pod(after);
    KUBE_TRYV(check_pod_spec_update(kind, before, after));
  }
  if (kind.generation && wanted_part(kind, before) != wanted_part(kind, after))
    after["metadata"].as_object()["generation"] = int_at(before, {"metadata", "generation"}) + 1;
  return {};
}

std::int64_t pod_grace_period(const json::object& pod, std::int64_t asked, bool is_asked) {
  // Nobody would report the end of a pod that no node has, or that has ended.
  if (string_at(pod, {"spec", "nodeName"}).empty() || is_finished(pod)) return 0;
  const std::int64_t period = is_asked ? asked : int_at(pod, {"spec", "terminationGracePeriodSeconds"}, 30);
  return period < 0 ? 1 : period;
}

}  // namespace kube::testing
