// How Secrets are reflected.
#include <array>

#include "core/offloading/service_account_token.hpp"
#include "core/offloading/token_secrets.hpp"
#include "core/reflection/forge.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::reflection {
namespace {

constexpr std::array<std::string_view, 3> fields = {"data", "type", "immutable"};
constexpr std::span maps = std::span(fields).first<1>();

/// The type of a Secret, with the API server's default.
std::string_view type_of(const kube::Object& secret) {
  const std::string_view type = kube::string_at(secret.tree(), {"type"});
  return type.empty() ? "Opaque" : type;
}

/// Why the Secret stays at home, nullopt if it does not: some are of use only in their own cluster, and give rights or
/// knowledge there.
std::optional<std::string_view> never_reflected(const kube::Object& local) {
  // This Secret has the tokens of another consumer's pods, and is renewed by that consumer.
  if (local.has_label(api::labels::service_account_name) && local.has_annotation(api::annotations::token_pod_name))
    return "";
  const std::string_view type = type_of(local);
  if (type == "bootstrap.kubernetes.io/token") return "holds a token by which machines join this cluster";
  // Helm writes one at each upgrade. Helm at the provider would take the copy for a release there.
  if (type == "helm.sh/release.v1") return "";
  return std::nullopt;
}

/// A token that somebody has made by hand does not expire, so it is copied only if he says so, and while a pod uses it.
std::optional<std::string_view> needs_pod(const kube::Object& local) {
  if (type_of(local) != core::service_account_token_type) return std::nullopt;
  // Pods come and go: that none names it is no news.
  return is_allowed(local) ? ""
                           : "holds a token of a service account of this cluster, and is not annotated "
                             "liqo.io/allow-reflection; pods get tokens of their own by a projected volume";
}

std::string tell_copied(const kube::Object& local, const core::ForgingContext& ctx) {
  return "Secret " + std::string(local.name()) + " is copied to cluster " + ctx.clusters.remote +
         " as one of type Opaque, for the pods there that name it: whoever can read it there has the rights of service "
         "account " +
         std::string(local.annotation("kubernetes.io/service-account.name")) +
         " in this cluster, until the Secret here is deleted";
}

std::string_view no_copy(const kube::Object& remote, const core::ForgingContext& ctx) {
  return core::is_token_secret(remote, ctx.clusters) ? "holds the tokens of a pod" : "";
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy =
      forge_copy(kube::resources::secrets, local, {std::string(remote_namespace), std::string(local.name())}, ctx);
  copy_fields(local.tree(), copy.tree(), fields);
  // Its own API server would refuse a token of an account that it does not have.
  if (type_of(local) == core::service_account_token_type) copy.tree()["type"] = "Opaque";
  return copy;
}

Comparison compare(const kube::Object& live, const kube::Object& wanted) {
  return type_of(live) == type_of(wanted) ? compare_data(live, wanted, maps) : Comparison::replace;
}

}  // namespace

extern const ReflectedKind secret{
    .name = "Secret",
    .plural = "Secrets",
    .resource = kube::resources::secrets,
    .referred_only = true,
    .never_reflected = never_reflected,
    .needs_pod = needs_pod,
    .tell_copied = tell_copied,
    .no_copy = no_copy,
    .forge = forge,
    .compare = compare,
    .surplus = [](const kube::Object& live, const kube::Object& wanted) { return surplus_data(live, wanted, maps); },
};

}  // namespace liqo::core::reflection
