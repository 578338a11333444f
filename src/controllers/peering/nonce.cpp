#include "controllers/peering/nonce.hpp"

#include "controllers/common/guarded_write.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;

}  // namespace

NonceController::NonceController(TenantNamespaces& namespaces, ClusterKeys& keys, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      keys_(keys),
      controller_(context_, {.name = "nonce"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.reads(namespaces_, keys_);
  namespaces_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); });
  keys_.subscribe([this] { enqueue({}); });
}

void NonceController::enqueue(const kube::ObjectKey& key) {
  if (!key.name.empty() && key.name != core::nonce_secret && key.name != core::signed_nonce_secret) return;
  controller_.enqueue({.object = key});
}

asio::awaitable<Outcome> NonceController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  if (key.name.empty()) {
    for (const std::string& ns : key.ns.empty() ? namespaces_.readable() : std::vector<std::string>{key.ns})
      for (std::string_view name : {core::nonce_secret, core::signed_nonce_secret})
        controller_.enqueue({.object = {ns, std::string(name)}});
    co_return Outcome::done();
  }
  kube::Informer* secrets = namespaces_.secrets(key.ns);
  const std::string peer = namespaces_.peer_of(key.ns);
  if (!secrets || peer.empty()) co_return Outcome::done();
  auto secret = secrets->find(key);
  if (!secret || secret->is_deleting()) co_return Outcome::done();
  const bool is_nonce = key.name == core::nonce_secret;
  if (!secret->has_label(is_nonce ? api::labels::nonce : api::labels::signed_nonce)) co_return Outcome::done();
  if (secret->label(api::labels::remote_cluster_id) != peer) {
    context_.events.warning(*secret, kube::resources::secrets, "WrongNamespace",
                            "the label " + std::string(api::labels::remote_cluster_id) +
                                " does not name the cluster of this tenant namespace, which is " + peer);
    co_return Outcome::done();
  }
  if (is_nonce) co_return co_await fill(std::move(*secret));
  co_return co_await sign(std::move(*secret));
}

asio::awaitable<Outcome> NonceController::fill(kube::Object secret) {
  if (!kube::string_at(secret.tree(), {"data", "nonce"}).empty()) co_return Outcome::done();
  KUBE_CO_TRY(nonce, core::make_nonce(context_.entropy), "making a nonce");
  co_return co_await write(std::move(secret), {.name = "nonce",
                                               .bytes = std::move(nonce),
                                               .reason = "NonceGenerated",
                                               .message = "the nonce for the consumer to sign is there"});
}

asio::awaitable<Outcome> NonceController::sign(kube::Object secret) {
  const auto& key = keys_.key();
  if (!key) co_return Outcome::done();  // a new key enqueues it
  const std::string nonce = core::secret_bytes(secret, "nonce");
  if (nonce.empty()) co_return Outcome::done();
  if (!core::is_nonce(nonce)) {
    context_.events.warning(secret, kube::resources::secrets, "InvalidNonce",
                            "what is to be signed is not a nonce of 88 characters of base64; it is not signed");
    co_return Outcome::done();
  }
  // Verified, not compared: signatures of ECDSA keys differ each time.
  if (key->public_key().verify(nonce, core::secret_bytes(secret, "signedNonce"))) co_return Outcome::done();
  KUBE_CO_TRY(signature, key->sign(nonce), "signing the nonce");
  co_return co_await write(std::move(secret), {.name = "signedNonce",
                                               .bytes = std::move(signature),
                                               .reason = "NonceSigned",
                                               .message = "the nonce of the provider is signed"});
}

asio::awaitable<Outcome> NonceController::write(kube::Object secret, Field field) {
  json::object data;
  data[field.name] = kube::encode_base64(field.bytes);
  json::object changes;
  changes["data"] = std::move(data);
  auto patched = co_await context_.home.api().patch(
      kube::resources::secrets, secret.key(), {kube::PatchType::merge, guarded_patch(secret, std::move(changes))});
  if (!patched) {
    if (patched.error().is_not_found()) co_return Outcome::done();
    co_return Outcome::retry(std::move(patched.error()).in("writing the Secret of a nonce"));
  }
  context_.events.normal(*patched, kube::resources::secrets, field.reason, std::move(field.message));
  if (kube::Informer* secrets = namespaces_.secrets(secret.ns())) secrets->observe(std::move(*patched));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
