// The provider's side of a NamespaceMap: which twin namespaces are made, taken over, refused and removed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/api/namespace_map.hpp"
#include "liqo/core/namespaces/twin_names.hpp"

namespace liqo::core {

/// More twins than this a consumer does not get, in all of its maps together.
inline constexpr std::size_t max_twins = 1000;

/// Who a NamespaceMap is of, and what its twins are made with.
struct TwinContext {
  kube::ObjectKey map;       ///< of the NamespaceMap, in the tenant namespace
  std::string origin;        ///< the consumer's cluster ID, as the tenant namespace has it
  std::string pod_security;  ///< level of the twins
  std::string liqo_namespace;
  std::string storage_namespace;  ///< of the real claims
  TwinNameRules names;            ///< of twins that do not exist yet
  /// Value of the annotation that marks what was made for this map.
  std::string map_id() const { return map.text(); }
};

/// The consumer that a replicated NamespaceMap is of. The labels of the map are the consumer's to write, so it is the
/// tenant namespace that tells, and the map must agree. Errors: Errc::invalid_input with a sentence for the provider's
/// administrator.
kube::Result<std::string> check_origin(const api::NamespaceMap& map, const kube::Object* tenant_namespace);

/// The Pod Security level that a tenant namespace asks for its twins, "baseline" where it says nothing. Errors:
/// Errc::invalid_input for a word that is no level; "baseline" holds then, too.
kube::Result<std::string> twin_pod_security(const kube::Object& tenant_namespace);

/// What to do about one wanted twin. Exactly one of the first three holds something, or none: the twin is as it should
/// be.
struct TwinPlan {
  std::optional<kube::Object> create;
  std::optional<kube::json::object> patch;  ///< JSON merge patch of a twin that is ours, with the resourceVersion
  std::string refusal;                      ///< why it cannot be had, for both sides to read
  bool terminating = false;                 ///< it is ours and still going: wait
};

/// `existing` is the namespace of that name, or null. What exists without our mark is somebody else's, whoever made it.
TwinPlan plan_twin(const api::WantedNamespace& wanted, const kube::Object* existing, const TwinContext& ctx);

/// The RoleBinding in a twin: named after the tenant namespace, it gives the group of the consumer's identities their
/// rights.
kube::Object forge_twin_binding(std::string_view twin, const TwinContext& ctx);

/// What to do about the RoleBinding of a twin. None of these: it is as it should be.
struct BindingPlan {
  bool create = false;
  bool replace = false;                     ///< it refers to another role, which cannot be changed: delete it first
  std::optional<kube::json::object> patch;  ///< JSON merge patch, with the resourceVersion
  std::string refusal;
};
BindingPlan plan_twin_binding(std::string_view twin, const kube::Object* existing, const TwinContext& ctx);

/// Which of the wanted twins are made: those that exist, further ones within the limit, and one for each name.
struct TwinSelection {
  std::vector<api::WantedNamespace> taken;
  std::map<std::string, api::MappedNamespace> refused;  ///< by local namespace; not more than the limit
  std::size_t left_out = 0;                             ///< refused, and not in the list for its length
};
/// `twins` are the namespaces that carry the mark of this map; `elsewhere` is how many other maps of the consumer have.
TwinSelection select_twins(const api::NamespaceMap& map, std::span<const kube::Object> twins, std::size_t elsewhere = 0,
                           std::size_t limit = max_twins);
/// What is said of a twin that is one too many.
std::string too_many_twins(std::size_t limit = max_twins);

/// JSON merge patch of the status that makes `currentMapping` these entries; nothing where it is. Messages are cut to
/// 300 bytes.
std::optional<kube::json::object> plan_map_status(const kube::Object& map,
                                                  const std::map<std::string, api::MappedNamespace>& entries);

}  // namespace liqo::core
