// Kinds that configuration names: custom resources of teams, which no table here knows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/reflection/policy.hpp"

namespace liqo::core::reflection {

/// A kind by the name of its CustomResourceDefinition, e.g. "widgets.example.org".
struct CustomResource {
  std::string plural, group;
  bool brings_status = false;  ///< the status of the copy becomes that of the object
  std::string name() const { return plural + "." + group; }
  bool operator==(const CustomResource&) const = default;
};

/// A custom resource that is to be reflected, and how.
struct CustomPolicy {
  CustomResource resource;
  KindPolicy policy;
};

/// Reads "widgets.example.org,status,type=AllowList,workers=8", of which all but the name may be left out. Errors:
/// Errc::invalid_input with a sentence, also for groups that Kubernetes or Liqo has itself.
kube::Result<CustomPolicy> read_custom_resource(std::string_view text);

/// The descriptor of a custom kind, under which option_name() is the name of the resource. It is as good as a built-in
/// one, and stays as long as the process does, because caches refer to its names: there are as many as kinds are
/// configured and versions of these served at home.
const ReflectedKind& custom_kind(const CustomResource& resource, std::string_view version, std::string_view kind);

/// A custom resource as the API of one cluster describes it.
struct ServedResource {
  std::string kind;
  bool namespaced = false;
  bool has_status = false;  ///< the subresource
};

/// The most versions of a group that are looked at.
inline constexpr std::size_t max_versions = 16;
/// The versions that a document of /apis/GROUP names, the preferred one first.
std::vector<std::string> served_versions(const kube::json::value& group);
/// What a document of /apis/GROUP/VERSION says of a resource; nothing if it is not there.
std::optional<ServedResource> find_served(const kube::json::value& resources, std::string_view plural);
/// The first version at home that the provider serves, too; "" = there is none.
std::string_view common_version(std::span<const std::string> home, std::span<const std::string> provider);

/// The status of an object at home whose copy is as it wants it now: that of the copy, but with an
/// `observedGeneration`, also of conditions, that counts the generations of the object at home. Null: the copy has
/// none.
kube::json::value status_at_home(const kube::Object& local, const kube::Object& remote);

}  // namespace liqo::core::reflection
