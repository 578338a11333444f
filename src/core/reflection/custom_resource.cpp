#include "core/reflection/custom_resource.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "core/common/names.hpp"
#include "core/reflection/forge.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

/// Groups of Kubernetes itself: their kinds start pods, give rights, or are reflected in a way of their own. Other
/// groups in k8s.io belong to CRDs, such as gateway.networking.k8s.io.
constexpr std::array<std::string_view, 23> reserved_groups = {"admissionregistration.k8s.io",
                                                              "apiextensions.k8s.io",
                                                              "apiregistration.k8s.io",
                                                              "apps",
                                                              "authentication.k8s.io",
                                                              "authorization.k8s.io",
                                                              "autoscaling",
                                                              "batch",
                                                              "certificates.k8s.io",
                                                              "coordination.k8s.io",
                                                              "discovery.k8s.io",
                                                              "events.k8s.io",
                                                              "extensions",
                                                              "flowcontrol.apiserver.k8s.io",
                                                              "internal.apiserver.k8s.io",
                                                              "networking.k8s.io",
                                                              "node.k8s.io",
                                                              "policy",
                                                              "rbac.authorization.k8s.io",
                                                              "resource.k8s.io",
                                                              "scheduling.k8s.io",
                                                              "storage.k8s.io",
                                                              "storagemigration.k8s.io"};

bool is_reserved(std::string_view group) {
  return std::ranges::find(reserved_groups, group) != reserved_groups.end() || core::is_below(group, "liqo.io") ||
         core::is_below(group, "metrics.k8s.io");
}

std::unexpected<kube::Failure> refuse(std::string_view text, std::string why) {
  return kube::fail(kube::Errc::invalid_input, kube::in_quotes(text, 300) + " " + std::move(why));
}

/// The copy has every field but metadata and status, which each cluster keeps for itself.
kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  const std::string version(kube::string_at(local.tree(), {"apiVersion"}));
  const std::string kind(kube::string_at(local.tree(), {"kind"}));
  const auto slash = std::min(version.find('/'), version.size());
  const kube::Resource resource{std::string_view(version).substr(0, slash),
                                std::string_view(version).substr(std::min(slash + 1, version.size())),
                                {},
                                kind};
  kube::Object copy = forge_copy(resource, local, {std::string(remote_namespace), std::string(local.name())}, ctx);
  for (const auto& [key, value] : local.tree())
    if (key != "apiVersion" && key != "kind" && key != "metadata" && key != "status") copy.tree()[key] = value;
  return copy;
}

/// A ReflectedKind with the strings that it refers to.
struct CustomKind {
  std::string name, group, version, plural, kind;
  ReflectedKind reflected;

  CustomKind(const CustomResource& resource, std::string_view version_name, std::string_view kind_name)
      : name(resource.name()),
        group(resource.group),
        version(version_name),
        plural(resource.plural),
        kind(kind_name),
        reflected{.name = name, .resource = {group, version, plural, kind}, .forge = forge} {
    if (resource.brings_status) reflected.gather = status_at_home;
  }
};

/// Translates `observedGeneration`: if the provider's controller has seen the newest generation of the copy, it has
/// seen that at home. Otherwise the one before is shown.
void count_at_home(json::object& of, std::int64_t remote, std::int64_t local) {
  json::value* seen = of.if_contains("observedGeneration");
  if (!seen || !seen->is_number()) return;
  const bool has_seen = kube::int_at(json::value(of), {"observedGeneration"}) >= remote;
  *seen = has_seen ? local : std::max<std::int64_t>(local - 1, 0);
}

}  // namespace

kube::Result<CustomPolicy> read_custom_resource(std::string_view text) {
  CustomPolicy out;
  const auto comma = std::min(text.find(','), text.size());
  const std::string_view name = text.substr(0, comma);
  const auto dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0 || !core::is_dns_subdomain(name))
    return refuse(text, "does not begin with the name of a CustomResourceDefinition such as widgets.example.org");
  out.resource = {.plural = std::string(name.substr(0, dot)), .group = std::string(name.substr(dot + 1))};
  if (is_reserved(out.resource.group))
    return refuse(text, "is of a group that Kubernetes or Liqo has itself: only custom resources are reflected so");
  const ReflectedKind probe{.name = name, .resource = {}, .forge = forge};
  for (std::string_view rest = text.substr(std::min(comma + 1, text.size())); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word == "status") {
      out.resource.brings_status = true;
    } else if (word.starts_with("type=")) {
      const auto selection = read_selection(probe, word.substr(5));
      if (!selection) return refuse(text, "has a type that is not DenyList or AllowList");
      out.policy.selection = *selection;
    } else if (word.starts_with("workers=")) {
      const auto workers = kube::read_number<int>(word.substr(8));
      if (!workers || *workers < 0 || *workers > max_workers)
        return refuse(text, "has workers that are no number from 0 to " + std::to_string(max_workers));
      out.policy.workers = *workers;
    } else {
      return refuse(text, "says " + kube::in_quotes(word, 64) + ", which is none of status, type= and workers=");
    }
  }
  return out;
}

const ReflectedKind& custom_kind(const CustomResource& resource, std::string_view version, std::string_view kind) {
  static std::map<std::string, std::unique_ptr<const CustomKind>> known;
  std::string key = resource.name();
  key.append("/").append(version).append("/").append(kind).append(resource.brings_status ? "+" : "");
  auto& found = known[std::move(key)];
  if (!found) found = std::make_unique<const CustomKind>(resource, version, kind);
  return found->reflected;
}

std::vector<std::string> served_versions(const json::value& group) {
  std::vector<std::string> versions;
  const json::object* document = group.if_object();
  if (!document) return versions;
  if (const std::string_view first = kube::string_at(group, {"preferredVersion", "version"}); !first.empty())
    versions.emplace_back(first);
  for (const json::value& entry : kube::array_at(*document, {"versions"})) {
    if (versions.size() == max_versions) break;
    if (const std::string_view version = kube::string_at(entry, {"version"});
        !version.empty() && std::ranges::find(versions, version) == versions.end())
      versions.emplace_back(version);
  }
  return versions;
}

std::optional<ServedResource> find_served(const json::value& resources, std::string_view plural) {
  const json::object* document = resources.if_object();
  if (!document) return std::nullopt;
  std::optional<ServedResource> found;
  bool has_status = false;
  const std::string status = std::string(plural) + "/status";
  for (const json::value& entry : kube::array_at(*document, {"resources"})) {
    const std::string_view name = kube::string_at(entry, {"name"});
    if (name == plural)
      found = {.kind = std::string(kube::string_at(entry, {"kind"})),
               .namespaced = kube::bool_at(entry, {"namespaced"})};
    has_status = has_status || name == status;
  }
  if (found) found->has_status = has_status;
  return found;
}

std::string_view common_version(std::span<const std::string> home, std::span<const std::string> provider) {
  const auto common = std::ranges::find_if(
      home, [&](const std::string& version) { return std::ranges::find(provider, version) != provider.end(); });
  return common == home.end() ? std::string_view() : *common;
}

json::value status_at_home(const kube::Object& local, const kube::Object& remote) {
  const json::value* status = remote.tree().if_contains("status");
  if (!status || !status->is_object()) return nullptr;
  json::object out = status->get_object();
  const std::int64_t of_remote = kube::int_at(remote.tree(), {"metadata", "generation"});
  const std::int64_t of_local = kube::int_at(local.tree(), {"metadata", "generation"});
  count_at_home(out, of_remote, of_local);
  if (json::value* conditions = out.if_contains("conditions"); conditions && conditions->is_array())
    for (json::value& condition : conditions->get_array())
      if (json::object* entry = condition.if_object()) count_at_home(*entry, of_remote, of_local);
  return out;
}

}  // namespace liqo::core::reflection
