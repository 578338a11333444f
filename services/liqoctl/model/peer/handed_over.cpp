#include "model/peer/handed_over.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
namespace labels = liqo::api::labels;

constexpr std::array<std::string_view, 5> of_tenants{"clusterID", "publicKey", "csr", "signature", "proxyURL"};
constexpr std::array<std::string_view, 4> of_identities{"clusterID", "type", "authParams", "namespace"};

/// The fields of the object except the label of its cluster and these fields of its spec.
std::vector<std::string> all_but(const Object& given, std::span<const std::string_view> fields) {
  std::vector<std::string> out;
  for (const auto& [key, value] : given.labels())
    if (key != labels::remote_cluster_id) out.push_back("label " + kube::printable(key));
  for (const auto& [key, value] : given.annotations()) out.push_back("annotation " + kube::printable(key));
  for (const char* list : {"finalizers", "ownerReferences"})
    if (!kube::array_at(given.metadata(), {list}).empty()) out.push_back(std::string("metadata.") + list);
  for (const auto& [key, value] : given.spec())
    if (std::ranges::find(fields, std::string_view(key)) == fields.end()) out.push_back("spec." + kube::printable(key));
  return out;
}

}  // namespace

kube::Result<std::string> cluster_of(const Object& given) {
  std::string id(kube::string_at(given.spec(), {"clusterID"}));
  if (liqo::core::is_cluster_id(id)) return id;
  return kube::fail(kube::Errc::invalid_input,
                    "the " + kube::printable(given.kind()) + " is of no cluster: its spec.clusterID is no cluster ID");
}

kube::Result<Taken> tenant_to_admit(const Object& given, std::string_view ns) {
  KUBE_TRY(consumer, cluster_of(given));
  Taken out{.object = Object::make(liqo::api::kinds::tenants, {std::string(ns), consumer}),
            .left_out = all_but(given, of_tenants)};
  out.object.set_label(labels::remote_cluster_id, consumer);
  json::object& spec = out.object.mutable_spec();
  for (const std::string_view field : of_tenants)
    if (const std::string_view text = kube::string_at(given.spec(), {field}); !text.empty()) spec[field] = text;
  return out;
}

kube::Result<Taken> identity_to_adopt(const Object& given, std::string_view ns) {
  KUBE_TRY(provider, cluster_of(given));
  const liqo::api::Identity identity(given);
  if (!identity.is_control_plane())
    return kube::fail(kube::Errc::invalid_input,
                      "the Identity is not of the type ControlPlane; those of slices come by themselves");
  Taken out{.object = liqo::core::forge_identity({.tenant_namespace = std::string(ns),
                                                  .provider = provider,
                                                  .auth_params = identity.auth_params(),
                                                  .remote_namespace = std::string(identity.remote_namespace()),
                                                  .slice = {}}),
            .left_out = all_but(given, of_identities)};
  return out;
}

std::string moved_credentials(const Object& before, const Object& wanted) {
  const json::object& old = liqo::api::Identity(before).auth_params();
  const json::object& now = liqo::api::Identity(wanted).auth_params();
  const auto said = [](const json::object& params) {
    const std::string_view server = kube::string_at(params, {"apiServer"});
    return server.empty() ? std::string("no server") : kube::printable(server.substr(0, 256));
  };
  const std::string what = "Identity " + std::string(wanted.name());
  if (kube::string_at(old, {"apiServer"}) != kube::string_at(now, {"apiServer"}))
    return what + " leads to " + said(old) + ", and the other side now says " + said(now) + ".";
  if (kube::string_at(old, {"ca"}) != kube::string_at(now, {"ca"}))
    return what + " has another CA for " + said(old) + " than the other side now says.";
  return "";
}

}  // namespace liqoctl::model
