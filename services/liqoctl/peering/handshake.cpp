#include "peering/handshake.hpp"

#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/clock_skew.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/keys.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/tenant.hpp"
#include "model/objects.hpp"
#include "model/peer/handed_over.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
using kube::Errc;

bool is_admitted(const Object& tenant) {
  return !kube::object_at(tenant.status(), {"authParams"}).empty() &&
         !kube::string_at(tenant.status(), {"tenantNamespace"}).empty();
}

/// Whether a Tenant was admitted with exactly this key and request, so that nothing has to be proven again.
bool is_settled(const Object& there, const Object& wanted) {
  if (!is_admitted(there)) return false;
  for (const std::string_view field : {"clusterID", "csr"})
    if (kube::string_at(there.spec(), {field}) != kube::string_at(wanted.spec(), {field})) return false;
  // The Go version up to 1.0.1 wrote keys in another form.
  const auto key = core::PublicKey::parse(liqo::api::Tenant(there).public_key());
  return key && key->pem() == liqo::api::Tenant(wanted).public_key();
}

}  // namespace

asio::awaitable<Result<std::string>> ensure_tenant_namespace(Session& session, Cluster& cluster, std::string peer) {
  KUBE_CO_TRY(found, co_await cluster.tenant_namespace(peer));
  if (found.is_ending && !cluster.flags().dry_run) {
    KUBE_CO_TRYV(co_await wait_for_namespace_to_go(cluster, session.deadline(), found.name));
  } else if (found.exists) {
    co_return found.name;
  }
  Object wanted = core::forge_tenant_namespace(peer, found.name);
  // unpeer removes only namespaces with this mark.
  wanted.set_annotation(model::made_by, model::made_by_liqoctl);
  auto made = co_await cluster.create(kube::resources::namespaces, std::move(wanted));
  if (!made && !made.error().is_already_exists())
    co_return kube::fail(std::move(made.error()), "making the tenant namespace of " + peer);
  if (!cluster.flags().dry_run)
    cluster.output().success(cluster.scope(), "tenant namespace " + found.name + " created");
  co_return found.name;
}

asio::awaitable<Result<std::string>> obtain_nonce(Session& session, Cluster& provider, std::string tenant_namespace,
                                                  std::string consumer) {
  const Object wanted = core::forge_nonce_secret(tenant_namespace, consumer);
  const kube::ObjectKey key = wanted.key();
  KUBE_CO_TRY(there, co_await provider.find(kube::resources::secrets, key));
  if (!there) {
    auto made = co_await provider.create(kube::resources::secrets, wanted);
    if (!made && !made.error().is_already_exists()) co_return std::unexpected(std::move(made.error()));
    if (provider.flags().dry_run) co_return "";
  }
  std::string nonce;
  const std::function<WaitState(const Object*)> look = [&nonce](const Object* secret) -> WaitState {
    if (!secret) return {.seen = "Secret liqo-nonce is gone"};
    nonce = core::secret_bytes(*secret, "nonce");
    if (nonce.empty()) return {.seen = "it is not filled: is liqod running in that cluster?"};
    return {.done = true};
  };
  KUBE_CO_TRYV(
      co_await wait_for_object(provider, {.what = "the nonce of the provider", .deadline = session.deadline()},
                               {.resource = kube::resources::secrets, .key = key, .blame = Blame::warnings}, look),
      provider.scope());
  session.output().success(provider.scope(), "the Secret with the nonce is ready");
  co_return nonce;
}

asio::awaitable<Result<std::string>> obtain_signature(Session& session, Cluster& consumer, NonceToSign order) {
  const std::string& nonce = order.nonce;
  const Object wanted = core::forge_signed_nonce_secret(order.tenant_namespace, order.provider, nonce);
  const kube::ObjectKey key = wanted.key();
  KUBE_CO_TRY(there, co_await consumer.find(kube::resources::secrets, key));
  if (there && core::secret_bytes(*there, "nonce") != nonce) {
    // This nonce is of an earlier peering. Only the provider's present one is valid.
    KUBE_CO_TRYV(co_await consumer.remove(kube::resources::secrets, key, {.uid = std::string(there->uid())}));
    there.reset();
  }
  if (!there) {
    auto made = co_await consumer.create(kube::resources::secrets, wanted);
    if (!made && !made.error().is_already_exists()) co_return std::unexpected(std::move(made.error()));
    if (consumer.flags().dry_run) co_return "";
  }
  std::string signature;
  const std::function<WaitState(const Object*)> look = [&](const Object* secret) -> WaitState {
    if (!secret || core::secret_bytes(*secret, "nonce") != nonce) return {.seen = "Secret liqo-signed-nonce is gone"};
    signature = core::secret_bytes(*secret, "signedNonce");
    if (signature.empty()) return {.seen = "it is not signed yet"};
    return {.done = true};
  };
  KUBE_CO_TRYV(
      co_await wait_for_object(consumer, {.what = "the signature of the nonce", .deadline = session.deadline()},
                               {.resource = kube::resources::secrets, .key = key, .blame = Blame::warnings}, look),
      consumer.scope());
  session.output().success(consumer.scope(), "nonce signed");
  co_return signature;
}

asio::awaitable<Result<core::PrivateKey>> read_key(Cluster& consumer) {
  const kube::ObjectKey key{consumer.liqo_namespace(), std::string(core::cluster_keys_secret)};
  KUBE_CO_TRY(secret, co_await consumer.find(kube::resources::secrets, key));
  if (!secret)
    co_return kube::fail(Errc::missing, "cluster " + consumer.api().cluster() + " has no keys yet (Secret " +
                                            key.text() + "): is liqod running there?");
  co_return core::read_cluster_keys(*secret);
}

asio::awaitable<Result<Object>> admit_tenant(Session& session, Cluster& provider, Object tenant) {
  const kube::ObjectKey key = tenant.key();
  KUBE_CO_TRY(done, co_await ensure(provider, kinds::tenants, tenant), provider.scope());
  if (done == Ensured::dry_run) co_return tenant;
  session.output().success(provider.scope(), "Tenant " + key.name + " " + std::string(in_words(done)));
  const std::function<WaitState(const Object*)> look = [&tenant](const Object* there) -> WaitState {
    if (!there) return {.seen = "the Tenant is gone"};
    if (!is_admitted(*there)) return {.seen = "it has no credentials yet"};
    tenant = *there;
    return {.done = true};
  };
  KUBE_CO_TRYV(co_await wait_for_object(
                   provider, {.what = "Tenant " + key.name + " to be admitted", .deadline = session.deadline()},
                   {.resource = kinds::tenants, .key = key, .blame = Blame::warnings}, look),
               provider.scope());
  session.output().success(provider.scope(), "Tenant " + key.name + " admitted");
  co_return tenant;
}

void add_replace(cli::Command app, bool& into) {
  app.flag("--replace", into, "Take credentials that lead to another API server or CA than those that are there");
}

asio::awaitable<Result<void>> adopt_identity(Session& session, Cluster& consumer, Object identity, bool replace) {
  const kube::ObjectKey key = identity.key();
  if (!replace && !consumer.would_be_new(kube::resources::namespaces, {"", key.ns})) {
    KUBE_CO_TRY(there, co_await consumer.find(kinds::identities, key), consumer.scope());
    if (there)
      if (const std::string moved = model::moved_credentials(*there, identity); !moved.empty())
        co_return kube::fail(Errc::invalid_input, consumer.scope() + ": " + moved +
                                                      " Give --replace if this is the same cluster, and it has moved.");
  }
  KUBE_CO_TRY(done, co_await ensure(consumer, kinds::identities, std::move(identity), {"authParams"}),
              consumer.scope());
  if (done == Ensured::dry_run) co_return Result<void>();
  session.output().success(consumer.scope(), "Identity " + key.name + " " + std::string(in_words(done)));
  const std::function<WaitState(const Object*)> look = [](const Object* there) -> WaitState {
    if (!there) return {.seen = "the Identity is gone"};
    if (kube::string_at(there->status(), {"kubeconfigSecretRef", "name"}).empty())
      return {.seen = "it has no Secret yet"};
    return {.done = true};
  };
  KUBE_CO_TRYV(co_await wait_for_object(
                   consumer, {.what = "the kubeconfig of Identity " + key.name, .deadline = session.deadline()},
                   {.resource = kinds::identities, .key = key, .blame = Blame::warnings}, look),
               consumer.scope());
  session.output().success(consumer.scope(), "Identity " + key.name + " has its kubeconfig");
  co_return Result<void>();
}

asio::awaitable<Result<void>> authenticate(Session& session, Session::Pair pair, bool replace) {
  // The clocks are known because both clusters have responded.
  const auto home_clock = pair.consumer->api().clock_ahead(), away_clock = pair.provider->api().clock_ahead();
  if (home_clock && away_clock)
    if (const auto ahead = core::settle_clock({}, *away_clock - *home_clock); ahead != std::chrono::seconds::zero())
      session.output().warn(pair.provider->scope(), core::describe_clock(ahead, "that of " + pair.consumer_id));
  KUBE_CO_TRY(home, co_await ensure_tenant_namespace(session, *pair.consumer, pair.provider_id),
              pair.consumer->scope());
  KUBE_CO_TRY(away, co_await ensure_tenant_namespace(session, *pair.provider, pair.consumer_id),
              pair.provider->scope());
  KUBE_CO_TRY(key, co_await read_key(*pair.consumer));

  core::TenantOrder order{.tenant_namespace = away, .consumer = pair.consumer_id, .signature = {}};
  KUBE_CO_TRY(tenant, core::forge_tenant(order, key));
  KUBE_CO_TRY(there, co_await pair.provider->find(kinds::tenants, tenant.key()), pair.provider->scope());
  Object admitted;
  if (there && is_settled(*there, tenant)) {
    session.output().info(pair.provider->scope(), "Tenant " + pair.consumer_id + " is admitted already");
    admitted = std::move(*there);
  } else {
    KUBE_CO_TRY(nonce, co_await obtain_nonce(session, *pair.provider, away, pair.consumer_id));
    KUBE_CO_TRY(signature,
                co_await obtain_signature(session, *pair.consumer,
                                          {.tenant_namespace = home, .provider = pair.provider_id, .nonce = nonce}));
    order.signature = std::move(signature);
    KUBE_CO_TRY(signed_tenant, core::forge_tenant(order, key));
    KUBE_CO_TRY(done, co_await admit_tenant(session, *pair.provider, std::move(signed_tenant)));
    admitted = std::move(done);
  }

  const core::IdentityOrder identity{
      .tenant_namespace = home,
      .provider = pair.provider_id,
      .auth_params = kube::object_at(admitted.status(), {"authParams"}),
      .remote_namespace =
          session.flags().dry_run ? away : std::string(kube::string_at(admitted.status(), {"tenantNamespace"})),
      .slice = {}};
  co_return co_await adopt_identity(session, *pair.consumer, core::forge_identity(identity), replace);
}

}  // namespace liqoctl
