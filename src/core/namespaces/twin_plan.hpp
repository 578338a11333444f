// The provider's side of a NamespaceMap: which twin namespaces are created, kept up to date or refused.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/common/binding_plan.hpp"
#include "core/namespaces/twin_names.hpp"
#include "liqo/api/namespace_map.hpp"

namespace liqo::core {

/// The most twins that a consumer gets, in all of its NamespaceMaps together.
inline constexpr std::size_t max_twins = 1000;

/// Whose a NamespaceMap is, and what its twins are created with.
struct TwinContext {
  kube::ObjectKey map;       ///< key of the NamespaceMap, in the tenant namespace
  std::string origin;        ///< the consumer's cluster ID, as the tenant namespace has it
  std::string pod_security;  ///< Pod Security level of the twins
  std::string liqo_namespace;
  std::string storage_namespace;  ///< of the real claims
  TwinNameRules names;            ///< of twins that do not exist yet
  bool checks_owners = false;     ///< admission refuses owners other than the twin (core/admission/owners.hpp)
  bool holds_budgets = false;     ///< the policy lets copies of PodDisruptionBudgets hold there
  /// The value of the annotation that marks objects created for this map.
  std::string map_id() const { return map.text(); }
};

/// The consumer of a replicated NamespaceMap. The consumer writes the labels of the map, so that the tenant namespace
/// decides and the map must agree with it. Errors: Errc::invalid_input with a sentence for the provider's
/// administrator.
kube::Result<std::string> check_origin(const api::NamespaceMap& map, const kube::Object* tenant_namespace);

/// The Pod Security level that a tenant namespace asks for its twins, "baseline" if it does not say. Errors:
/// Errc::invalid_input for a word that is no level; the caller uses "baseline" then.
kube::Result<std::string> twin_pod_security(const kube::Object& tenant_namespace);

namespace twin_action {
/// The twin is as it should be.
struct Keep {};
struct Create {
  kube::Object twin;
};
struct Patch {
  kube::json::object patch;  ///< JSON merge patch of a twin that is ours, with the resourceVersion
};
/// The consumer does not get the twin.
struct Refuse {
  std::string message;  ///< for both sides to read
};
/// The twin is ours, and is being deleted.
struct AwaitEnd {};
}  // namespace twin_action

/// What to do about one wanted twin.
using TwinPlan = std::variant<twin_action::Keep, twin_action::Create, twin_action::Patch, twin_action::Refuse,
                              twin_action::AwaitEnd>;

/// The plan for one wanted twin. `existing` is the namespace of that name, or null. A namespace without the mark of
/// this map is not ours, whoever created it.
TwinPlan plan_twin(const api::WantedNamespace& wanted, const kube::Object* existing, const TwinContext& ctx);

/// The RoleBinding in a twin: it is named after the tenant namespace, and gives the group of the consumer's identities
/// its rights.
kube::Object forge_twin_binding(std::string_view twin, const TwinContext& ctx);

/// What to do about the RoleBinding of a twin. One that neither bears the mark of this map nor gives the same rights is
/// somebody else's, and is refused.
BindingPlan plan_twin_binding(std::string_view twin, const kube::Object* existing, const TwinContext& ctx);

/// Which of the wanted twins the consumer gets: those that exist, further ones up to the bound, and one for each name.
struct TwinSelection {
  std::vector<api::WantedNamespace> taken;
  std::map<std::string, api::MappedNamespace> refused;  ///< by local namespace; at most `max_count`
  std::size_t left_out = 0;  ///< how many more are refused and not in `refused`, which is full
};
/// Selects the twins of one map that the consumer gets. `twins` are the namespaces that carry the mark of this map;
/// `elsewhere` is how many other maps of the consumer have.
TwinSelection select_twins(const api::NamespaceMap& map, std::span<const kube::Object> twins, std::size_t elsewhere = 0,
                           std::size_t max_count = max_twins);
/// The message for a twin that is one too many.
std::string too_many_twins(std::size_t max_count = max_twins);

/// JSON merge patch of the status that makes `currentMapping` these entries; nothing if it is so already. Messages are
/// cut to 300 bytes.
std::optional<kube::json::object> plan_map_status(const kube::Object& map,
                                                  const std::map<std::string, api::MappedNamespace>& entries);

}  // namespace liqo::core
