// One kind of object that is reflected from the consumer to the provider, and what is to be done about one object.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/common/forging_context.hpp"
#include "core/reflection/compare.hpp"
#include "core/reflection/copy_notes.hpp"
#include "core/reflection/narrowed.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// Which objects of a kind are reflected: all but those annotated skip, or only those annotated allow. `all` is a
/// deny_list that also reflects objects to which nothing refers, of a kind of which a deny_list does not.
enum class SelectionPolicy { deny_list, allow_list, all };

/// The descriptor of a kind: all that is particular to it. One per file in src/core/reflection/kinds. What is not set
/// is as most kinds have it.
struct ReflectedKind {
  std::string_view name;         ///< e.g. "ConfigMap": option names, metric label and event source derive from it
  std::string_view plural = {};  ///< e.g. "ConfigMaps", for the help of options; those that a CRD names have none
  kube::Resource resource;
  /// The kind of the copies; null = the same.
  const kube::Resource* target = nullptr;
  /// How copies of objects that change often follow them: `settle` after a change, and an object is looked at no more
  /// often than each `interval`. Zero: at once.
  struct Pace {
    std::chrono::milliseconds settle{}, interval{};
  };
  Pace pace = {};
  /// Forging looks up `ForgingContext::endpoints`: if that is null, nothing of the kind is reflected, and copies that
  /// are there are removed.
  bool needs_endpoints = false;
  /// The name of the copy of an object of this name; "" = an object of this name is never reflected.
  std::string (*remote_name)(std::string_view local, const core::ForgingContext& ctx) =
      [](std::string_view local, const core::ForgingContext&) { return std::string(local); };
  /// The name at home of a copy of this name; "" = nothing of ours can have this name.
  std::string (*local_name)(std::string_view remote, const core::ForgingContext& ctx) =
      [](std::string_view remote, const core::ForgingContext&) { return std::string(remote); };
  /// Objects that are reflected whatever the policy, unless annotated otherwise.
  bool (*is_always_reflected)(std::string_view local_name) = [](std::string_view) { return false; };
  /// Only objects that others refer to, or that are annotated to be allowed, are read and reflected, unless the policy
  /// says all; nothing of the kind is watched at home.
  bool referred_only = false;
  /// The Secrets that an object refers to, so that they follow it; null = none.
  std::vector<std::string> (*secrets_of)(const kube::Object& local) = nullptr;
  /// The kind whose type of policy holds for this one, too; "" = it has one of its own.
  std::string_view typed_as = {};
  /// The object whose annotations select one that has none of its own; null = there is none.
  std::optional<kube::Object> (*selected_by)(const kube::Object& local, const core::ForgingContext& ctx) = nullptr;
  /// Why an object is never reflected, whatever policy and annotations say: a clause for its Event, "" = no Event is
  /// needed; nullopt = it may be reflected.
  std::optional<std::string_view> (*never_reflected)(const kube::Object& local) =
      [](const kube::Object&) -> std::optional<std::string_view> { return std::nullopt; };
  /// Why an object is reflected only while it is annotated to be allowed and a pod names it, whatever the policy says:
  /// a clause for its Event, "" = no Event is needed; nullopt = it is reflected otherwise, too. Null: no object of the
  /// kind is so.
  std::optional<std::string_view> (*needs_pod)(const kube::Object& local) = nullptr;
  /// A sentence for the Event when such an object is copied.
  std::string (*tell_copied)(const kube::Object& local, const core::ForgingContext& ctx) = nullptr;
  /// Why an object at the provider that has both our labels is no copy: a clause, "" = it is a copy.
  std::string_view (*no_copy)(const kube::Object& remote, const core::ForgingContext& ctx) =
      [](const kube::Object&, const core::ForgingContext&) { return std::string_view(); };
  /// The copy for server-side apply, without the digest.
  kube::Object (*forge)(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx);
  /// What of a reflected object its copy lacks, a sentence for its Event; "" = nothing. Null: copies lack nothing.
  std::string (*left_out)(const kube::Object& local, const core::ForgingContext& ctx) = nullptr;
  /// The other namespace of home to which an object leads by its name, so that its copy is forged again when that gets
  /// a twin, or has none any more; "" = none. Null: no object of the kind leads anywhere.
  std::string_view (*leads_to)(const kube::Object& local) = nullptr;
  /// Whether something from outside a cluster reaches an object, so that its copy is taken away if the provider refuses
  /// a label or an annotation of a later state. Null: nothing does.
  bool (*is_door)(const kube::Object& local) = nullptr;
  /// Whether an object may be copied in a way that nobody outside reaches, without what the provider has refused of it,
  /// and how. Null: no object of the kind.
  bool (*may_be_narrowed)(const kube::Object& local, const RefusedParts& refused) = nullptr;
  kube::Object (*narrowed)(const kube::Object& local, const RefusedParts& refused) = nullptr;
  /// How a copy compares with what is wanted, beside labels and annotations. `wanted` is what `forge` made, with the
  /// digest.
  Comparison (*compare)(const kube::Object& live, const kube::Object& wanted) = compare_contained;
  /// The status that an object is to have, from a copy that is as the object wants it; null = none. Not set: no status
  /// comes home.
  kube::json::value (*gather)(const kube::Object& local, const kube::Object& remote) = nullptr;

  /// The addresses that the provider gave to a copy, for the annotation `remote-addresses` of the object at home. Null:
  /// copies of the kind get none.
  std::vector<std::string> (*addresses)(const kube::Object& remote) = nullptr;
  /// What to report once of a copy as the provider stores it. Null: nothing.
  std::vector<CopyNote> (*notes)(const kube::Object& local, const kube::Object& remote,
                                 const core::ForgingContext& ctx) = nullptr;
  /// What to report once of a copy that still waits for an address after `address_patience`; "" = it waits for none.
  /// Null: no copy of the kind waits.
  std::string (*unserved)(const kube::Object& local, const kube::Object& remote,
                          const core::ForgingContext& ctx) = nullptr;

  /// A merge patch that takes away what others have added to a copy, because an apply takes away only what it has made;
  /// empty = there is nothing. Null: what others add stays.
  kube::json::object (*surplus)(const kube::Object& live, const kube::Object& wanted) = nullptr;

  const kube::Resource& copies() const { return target ? *target : resource; }
};

namespace reflection_action {
/// All is as it should be, or nothing is wanted.
struct Keep {
  /// For a Normal ReflectionDisabled on the local object, once, if it is never reflected; "" = no Event.
  std::string message = {};
};
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
  /// False if no copy is known: without force, the API server answers 409 for fields of somebody else who took the name
  /// meanwhile. True for a copy of ours, whose UID is in `desired`.
  bool force = false;
};
/// Take away what others have added to a copy that is right otherwise.
struct Trim {
  kube::json::object patch;  ///< a merge patch, with UID and version as preconditions
};
}  // namespace reflection_action

using ReflectionPlan = std::variant<reflection_action::Keep, reflection_action::Refuse, reflection_action::Remove,
                                    reflection_action::Apply, reflection_action::Trim>;

/// How the objects of one kind are reflected to one provider.
struct ReflectionRule {
  const ReflectedKind& kind;
  SelectionPolicy policy;
  const core::ForgingContext& ctx;
  /// The provider refuses what controllers of home have noted on the object (core::take_out_notes).
  bool without_notes = false;
  bool named_by_pod = false;  ///< a pod at the provider, or on its way there, names the object now
  /// What the provider has refused of the object, which is narrowed for that; null = nothing.
  const RefusedParts* refused = nullptr;
};

/// The copy that an object is to have, its digest among the annotations; nothing if it is not to be reflected.
std::optional<kube::Object> wanted_copy(const ReflectionRule& rule, const kube::Object& local,
                                        std::string_view remote_namespace);

/// Whether an annotation has an object reflected to which nothing refers.
bool is_allowed(const kube::Object& local);

/// Whether an object at the provider is a copy of this kind from here, made by this version or by the Go version.
bool is_copy(const ReflectedKind& kind, const kube::Object& remote, const core::ForgingContext& ctx);

/// Decides about one object, given it and what has the name of its copy. Either may be null.
ReflectionPlan plan_reflection(const ReflectionRule& rule, const kube::Object* local, const kube::Object* remote,
                               std::string_view remote_namespace);

/// Decides about one object whose `wanted` copy is known: the result of wanted_copy() for `local`, nothing if that is
/// null. `local` or `remote` may be null.
ReflectionPlan plan_reflection(const ReflectionRule& rule, const kube::Object* local,
                               std::optional<kube::Object> wanted, const kube::Object* remote);

/// All kinds that are built in.
std::span<const ReflectedKind* const> reflected_kinds();
/// The kind of this name ("ConfigMap"), or nullptr.
const ReflectedKind* find_reflected_kind(std::string_view name);

}  // namespace liqo::core::reflection
