#include "controllers/peering/identity.hpp"

#include "controllers/common/collector_time.hpp"
#include "controllers/common/guarded_write.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/kubeconfig.hpp"
#include "core/peering/renewal.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/to_keys.hpp"
#include "kube/wire/kubeconfig.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;

constexpr std::string_view decided_labels[] = {api::labels::remote_cluster_id, api::labels::identity_type};

/// The parts of `wanted` that the live Secret does not have, as a merge patch; empty: none. Keys of others stay.
json::object missing_in(const kube::Object& live, const kube::Object& wanted) {
  json::object changes;
  json::object metadata;
  const std::string_view kubeconfig = kube::string_at(wanted.tree(), {"data", "kubeconfig"});
  if (kube::string_at(live.tree(), {"data", "kubeconfig"}) != kubeconfig)
    kube::ensure_object(changes, "data")["kubeconfig"] = json::string(kubeconfig);
  for (std::string_view label : decided_labels)
    if (live.label(label) != wanted.label(label))
      kube::ensure_object(metadata, "labels")[label] = json::string(wanted.label(label));
  constexpr std::string_view remote = api::annotations::remote_tenant_namespace;
  if (live.annotation(remote) != wanted.annotation(remote))
    kube::ensure_object(metadata, "annotations")[remote] =
        wanted.has_annotation(remote) ? json::value(wanted.annotation(remote)) : json::value(nullptr);
  if (!metadata.empty()) changes["metadata"] = std::move(metadata);
  return changes;
}

}  // namespace

IdentityController::IdentityController(TenantNamespaces& namespaces, ClusterKeys& keys, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      keys_(keys),
      identities_(context_.home.acquire({.resource = api::kinds::identities})),
      controller_(context_, {.name = "identity"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(identities_);
  namespaces_.watched_by(controller_, identities_);
  namespaces_.subscribe([this, identity_of = kube::without_prefix(core::kubeconfig_secret_name(""), identities_)](
                            const kube::ObjectKey& secret) {
    if (const auto identity = identity_of(secret)) controller_.enqueue({identity->ns, *identity});
  });
  controller_.reads(keys_);
  keys_.subscribe([this] { controller_.enqueue_all(identities_->store()); });
}

kube::Result<kube::Object> IdentityController::forge_secret(const kube::Object& identity) const {
  const api::Identity view(identity);
  KUBE_TRY(params, api::read_auth_params(view.auth_params()));
  if (params.has_aws)
    return kube::fail(kube::Errc::unsupported,
                      "spec.authParams.awsConfig: credentials of an EKS cluster are not supported. The provider has to "
                      "issue a client certificate: run its Liqo without the --aws flags, and authenticate anew.");
  KUBE_TRY(certificate, core::read_certificate(params.certificate_pem), "spec.authParams.signedCRT");
  const core::PrivateKey& key = *keys_.key();
  if (certificate.key != key.public_key())
    return kube::fail(kube::Errc::invalid_input,
                      "the certificate of the provider is not for the key of this cluster: authenticate anew");
  constexpr std::string_view scheme = "https://";
  if (!params.api_server.starts_with(scheme))
    return kube::fail(kube::Errc::invalid_input, "spec.authParams.apiServer is not an https URL");
  const std::string text = core::forge_kubeconfig({.cluster = std::string(view.cluster_id()),
                                                   .server = params.api_server,
                                                   .ca_pem = params.ca_pem,
                                                   .proxy_url = params.proxy_url,
                                                   .user = std::string(identity.name()),
                                                   .certificate_pem = params.certificate_pem,
                                                   .key_pem = key.pem(),
                                                   .ns = std::string(view.remote_namespace())});
  // The provider's credentials are used only in a form that is safe from any sender.
  KUBE_TRYV(kube::wire::parse_kubeconfig(text, {.origin = kube::wire::KubeconfigOrigin::secret}));
  return core::forge_kubeconfig_secret(identity, text);
}

asio::awaitable<Outcome> IdentityController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (!keys_.key() || !namespaces_.secrets(key.ns)) co_return Outcome::done();  // a change of either enqueues it
  const auto found = identities_->find(key);
  if (!found || found->is_deleting()) co_return Outcome::done();
  const kube::Object& identity = *found;
  const api::Identity view(identity);
  const std::string peer = namespaces_.peer_of(key.ns);
  if (peer != view.cluster_id()) {
    context_.events.warning(identity, api::kinds::identities, "WrongNamespace",
                            "this tenant namespace is for cluster " + peer + ", and the Identity is for \"" +
                                std::string(view.cluster_id()) + "\"");
    co_return Outcome::done();
  }
  auto secret = forge_secret(identity);
  if (!secret) {
    const bool aws = kube::find(view.auth_params(), {"awsConfig"}) != nullptr;
    context_.events.warning(identity, api::kinds::identities, aws ? "AWSNotSupported" : "InvalidAuthParams",
                            secret.error().text());
    co_return Outcome::done();
  }
  const std::string name(secret->name());
  KUBE_CO_TRY(ensured, co_await ensure_secret(identity, std::move(*secret)), "keeping the kubeconfig");
  if (!ensured) {
    context_.events.warning(identity, api::kinds::identities, "SecretExists",
                            "the Secret " + name + " is not of this Identity: delete one of the two");
    co_return Outcome::again_after(collector_time);
  }
  KUBE_CO_TRYV(co_await write_status(identity, name), "writing the Identity's status");
  co_return Outcome::done();
}

asio::awaitable<kube::Result<bool>> IdentityController::ensure_secret(const kube::Object& identity,
                                                                      kube::Object wanted) {
  const kube::ObjectKey key = wanted.key();
  kube::Informer* secrets = namespaces_.secrets(key.ns);
  if (!secrets) co_return true;
  kube::Api& home = context_.home.api();
  const auto live = secrets->find(key);
  if (live && !core::is_controlled_by(*live, identity)) co_return false;
  kube::Patch patch{kube::PatchType::merge, {}};
  if (live) {
    json::object changes = missing_in(*live, wanted);
    if (changes.empty()) co_return true;
    patch.body = guarded_patch(*live, std::move(changes));
  }
  KUBE_CO_TRY(written, live ? co_await home.patch(kube::resources::secrets, key, std::move(patch))
                            : co_await home.create(kube::resources::secrets, wanted));
  context_.events.normal(identity, api::kinds::identities, "KubeconfigEnsured",
                         "the Secret " + key.name + " is up to date");
  // The namespace may be gone meanwhile.
  if (kube::Informer* readable = namespaces_.secrets(key.ns)) readable->observe(std::move(written));
  co_return true;
}

asio::awaitable<kube::Result<void>> IdentityController::write_status(const kube::Object& identity, std::string secret) {
  if (api::Identity(identity).kubeconfig_secret() == secret) co_return kube::Result<void>();
  json::object reference;
  reference["name"] = secret;
  json::object changes;
  kube::ensure_object(changes, "status")["kubeconfigSecretRef"] = std::move(reference);
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *identities_, identity.key(),
                                          {.body = guarded_patch(identity, std::move(changes)),
                                           .phase = "naming the Secret of an Identity",
                                           .options = {.subresource = "status"}}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
