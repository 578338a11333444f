// One kind of object that is reflected from the consumer to the provider, and what is to be done about one object.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "kube/k8s/object.hpp"
#include "liqo/core/forge/context.hpp"

namespace liqo::reflection {

/// Which objects of a kind are reflected: all but those annotated skip, or only those annotated allow.
enum class SelectionPolicy { deny_list, allow_list };

/// The descriptor of a kind: all that is particular to it. One per file in src/reflection/kinds.
struct ReflectedKind {
  std::string_view name;  ///< e.g. "ConfigMap": option names, metric label and event source derive from it
  kube::Resource resource;
  /// The name of the copy of an object of this name; "" = an object of this name is never reflected.
  std::string (*remote_name)(std::string_view local, const core::ForgingContext& ctx);
  /// The name at home of a copy of this name; "" = nothing of ours can have this name.
  std::string (*local_name)(std::string_view remote, const core::ForgingContext& ctx);
  /// Objects that are reflected whatever the policy, unless annotated otherwise.
  bool (*is_always_reflected)(std::string_view local_name);
  /// The copy for server-side apply, without the digest.
  kube::Object (*forge)(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx);
  /// Fields beside metadata that the copy owns whole: their values must be equal, not just contained.
  std::span<const std::string_view> owned_fields;
  /// Whether the difference is one that the API server does not let be made: the copy is deleted and made again.
  bool (*needs_replacement)(const kube::Object& remote, const kube::Object& desired);
};

namespace reflection_action {
/// All is as it should be, or nothing is wanted.
struct Keep {};
/// An object of somebody else has the name: Warning FailedReflection on the local object; no retry.
struct Refuse {
  std::string message;
};
/// Delete the copy, with this UID as precondition.
struct Remove {
  std::string name, uid;
  /// For a Normal ReflectionDisabled on the local object; "" = no Event.
  std::string message;
};
/// Server-side apply under the manager reflection.liqo.io.
struct Apply {
  kube::Object desired;
  /// False where the cache shows no copy: without force, fields of somebody else who took the name meanwhile answer
  /// 409. True for a copy of ours, whose UID is in `desired`.
  bool force = false;
};
}  // namespace reflection_action

using ReflectionPlan = std::variant<reflection_action::Keep, reflection_action::Refuse, reflection_action::Remove,
                                    reflection_action::Apply>;

/// Decides about one object, given it and what has the name of its copy. Either may be null.
ReflectionPlan plan_reflection(const ReflectedKind& kind, SelectionPolicy policy, const kube::Object* local,
                               const kube::Object* remote, std::string_view remote_namespace,
                               const core::ForgingContext& ctx);

/// All kinds that are built in.
std::span<const ReflectedKind* const> reflected_kinds();
/// The kind of this name ("ConfigMap"), or nullptr.
const ReflectedKind* find_reflected_kind(std::string_view name);

}  // namespace liqo::reflection
