// How Secrets are reflected.
#include <array>

#include "core/offloading/service_account_token.hpp"
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
  if (type == "kubernetes.io/service-account-token")
    return "holds a token of a service account of this cluster, and pods get tokens of their own";
  if (type == "bootstrap.kubernetes.io/token") return "holds a token by which machines join this cluster";
  // Helm writes one at each upgrade. Helm at the provider would take the copy for a release there.
  if (type == "helm.sh/release.v1") return "";
  return std::nullopt;
}

std::string_view no_copy(const kube::Object& remote, const core::ForgingContext& ctx) {
  return core::is_token_secret(remote, ctx.clusters) ? "holds the tokens of a pod" : "";
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy =
      forge_copy(kube::resources::secrets, local, {std::string(remote_namespace), std::string(local.name())}, ctx);
  copy_fields(local.tree(), copy.tree(), fields);
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
    .no_copy = no_copy,
    .forge = forge,
    .compare = compare,
    .surplus = [](const kube::Object& live, const kube::Object& wanted) { return surplus_data(live, wanted, maps); },
};

}  // namespace liqo::core::reflection
