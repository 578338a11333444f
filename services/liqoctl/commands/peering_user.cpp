// liqoctl generate|create|delete peering-user: a user at the provider that can do no more than peer one consumer.
#include <algorithm>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/kubeconfig.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/hex.hpp"
#include "kube/client/access_review.hpp"
#include "kube/net/auth/infer_config.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "model/objects.hpp"
#include "model/selectors.hpp"
#include "peering/handshake.hpp"
#include "peering/peering_users.hpp"
#include "peering/removal.hpp"
#include "session/wait.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
namespace json = kube::json;
using kube::Errc;

using model::reader_suffix;
using model::writer_suffix;
constexpr std::string_view tenant_role = "liqo-peering-user-tenant-ns", liqo_role = "liqo-peering-user-liqo-ns";
constexpr kube::Duration rights_patience = std::chrono::seconds(10);

struct Flags {
  std::string consumer;
  std::string compatibility = "auto";  ///< auto, true, false
};

struct Role {
  std::string_view kind, name;
};

Object forge_binding(const kube::ObjectKey& key, Role role, const std::string& user, const std::string& consumer) {
  Object out = Object::make(kinds::role_bindings, key);
  out.set_label(model::peering_user_label, model::peering_user_name(consumer));
  out.tree()["roleRef"] =
      json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", role.kind}, {"name", role.name}};
  out.tree()["subjects"] =
      json::array{json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", user}}};
  return out;
}

/// Requests a certificate, approves the request, and waits for it.
asio::awaitable<Result<std::string>> issue(Session& session, Cluster& cluster, const Flags& flags, std::string csr) {
  const auto& resource = kube::resources::certificate_signing_requests;
  Object request = core::forge_certificate_request(csr, 0);
  request.mutable_metadata().erase("generateName");
  request.mutable_metadata()["name"] = model::peering_user_name(flags.consumer);
  request.mutable_metadata()["labels"] =
      json::object{{model::peering_user_label, model::peering_user_name(flags.consumer)}};
  KUBE_CO_TRY(made, co_await cluster.create(resource, std::move(request)));
  Object approved = made;
  approved.tree()["status"] = core::approval_status();
  KUBE_CO_TRYV(co_await cluster.api().replace(resource, approved, {.subresource = "approval"}),
               "approving the certificate");
  std::string certificate;
  const std::function<WaitState(const Object*)> look = [&certificate](const Object* there) -> WaitState {
    if (!there) return {.seen = "the request is gone"};
    auto issued = kube::decode_base64(kube::string_at(there->status(), {"certificate"}));
    if (!issued || issued->empty()) return {.seen = "the signer of the cluster has not signed"};
    certificate = std::move(*issued);
    return {.done = true};
  };
  // The signer is one of the cluster itself.
  KUBE_CO_TRYV(co_await wait_for_object(
      cluster, {.what = "the certificate", .deadline = session.deadline(), .needs_liqod = false},
      {.resource = resource, .key = made.key()}, look));
  co_return certificate;
}

/// Refuses if the user exists already. The remains of a user that was half created or half deleted are removed, because
/// nobody has its key.
asio::awaitable<Result<void>> make_room(Session& session, Cluster& cluster, const Flags& flags) {
  const std::string name = model::peering_user_name(flags.consumer), selector = model::of_peering_user(flags.consumer);
  KUBE_CO_TRY(bindings, co_await cluster.list(kinds::role_bindings, "", selector));
  const auto has = [&](std::string_view suffix) {
    return std::ranges::any_of(
        bindings, [&](const Object& one) { return one.name() == name + std::string(suffix) && !one.is_deleting(); });
  };
  if (has(reader_suffix) && has(writer_suffix))
    co_return kube::fail(Errc::invalid_input, "there is a peering user for " + flags.consumer +
                                                  " already: its kubeconfig was printed once; liqoctl delete "
                                                  "peering-user --consumer-cluster-id " +
                                                  flags.consumer + " makes room for another");
  KUBE_CO_TRY(requests, co_await cluster.list(kube::resources::certificate_signing_requests, "", selector));
  if (bindings.empty() && requests.empty()) co_return Result<void>();
  session.output().info(cluster.scope(), "a peering user for " + flags.consumer +
                                             " was left half made: it is removed, and a new one made");
  for (const Object& binding : bindings) KUBE_CO_TRYV(co_await cluster.remove(kinds::role_bindings, binding.key()));
  for (const Object& request : requests)
    KUBE_CO_TRYV(co_await cluster.remove(kube::resources::certificate_signing_requests, request.key()));
  co_return Result<void>();
}

/// Waits until the API server grants the user its rights. It learns of a binding by a watch, so it would refuse a user
/// who peers at once. If the caller may not ask about rights, it does not wait.
asio::awaitable<void> wait_in_force(Session& session, Cluster& cluster, std::string user, std::string ns) {
  const json::object attributes{
      {"group", kinds::tenants.group}, {"resource", kinds::tenants.plural}, {"verb", "get"}, {"namespace", ns}};
  const json::object spec{{"user", user}, {"resourceAttributes", attributes}};
  // Lives in this frame until the last probe has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(has_rights, co_await kube::has_access(cluster.api(), spec));
    co_return WaitState{.done = has_rights, .seen = "they are not known yet"};
  };
  const kube::Deadline deadline{std::min(session.deadline().at, cluster.clock().now() + rights_patience)};
  // The kubeconfig works a moment later in any case.
  [[maybe_unused]] auto known = co_await wait_for(
      cluster, {.what = "the rights of the new user", .deadline = deadline, .needs_liqod = false}, probe);
}

/// Gives the user its rights in the namespaces of Liqo and of the consumer.
asio::awaitable<Result<void>> give_rights(Cluster& cluster, std::string consumer, std::string user, std::string ns) {
  const std::string name = model::peering_user_name(consumer);
  for (const Object& wanted : {forge_binding({cluster.liqo_namespace(), name + std::string(reader_suffix)},
                                             {kinds::roles.kind, liqo_role}, user, consumer),
                               forge_binding({ns, name + std::string(writer_suffix)},
                                             {kinds::cluster_roles.kind, tenant_role}, user, consumer)}) {
    KUBE_CO_TRYV(co_await cluster.create(kinds::role_bindings, wanted));
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> generate(Session& session, const Flags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(id, co_await cluster.id());
  if (flags.consumer == id)
    co_return kube::fail(Errc::invalid_input, id + " is this cluster: give the ID of the one that is to consume here");
  KUBE_CO_TRY(key, flags.compatibility == "true" ? core::PrivateKey::make_rsa()
                                                 : core::PrivateKey::make_ed25519(core::secure_random));
  KUBE_CO_TRY(random, core::secure_random(16));
  // The random part makes certificates of an earlier user of that name useless.
  const std::string user = model::peering_user_name(flags.consumer) + "-" + kube::hex(random);
  KUBE_CO_TRY(csr, core::make_signing_request(key, {user, std::string(liqo::api::control_plane_group)}));
  KUBE_CO_TRY(ca, kube::net::read_authorities(cluster.config()));

  KUBE_CO_TRYV(co_await make_room(session, cluster, flags));
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, cluster, flags.consumer));
  KUBE_CO_TRY(certificate, session.flags().dry_run ? Result<std::string>(std::string())
                                                   : co_await issue(session, cluster, flags, csr));
  KUBE_CO_TRYV(co_await give_rights(cluster, flags.consumer, user, ns));
  if (session.flags().dry_run) co_return Result<void>();
  co_await wait_in_force(session, cluster, user, ns);
  session.output().print(core::forge_kubeconfig({.cluster = id,
                                                 .server = cluster.config().server.text(),
                                                 .ca_pem = ca,
                                                 .proxy_url = {},
                                                 .user = flags.consumer + "-user",
                                                 .certificate_pem = certificate,
                                                 .key_pem = key.pem(),
                                                 .ns = ns}));
  session.output().warn(cluster.scope(), "this kubeconfig is shown only now, and lets its holder peer " +
                                             flags.consumer + ": send it over a secure channel");
  co_return Result<void>();
}

/// Deletes the tenant namespace that liqoctl made for this peering, once it has no objects of a peering any more.
asio::awaitable<Result<void>> remove_namespace(Session& session, Cluster& cluster, std::string consumer) {
  KUBE_CO_TRY(ns, co_await cluster.tenant_namespace(consumer));
  if (!ns.exists) co_return Result<void>();
  KUBE_CO_TRY(there, co_await cluster.find(kube::resources::namespaces, {"", ns.name}));
  if (!there || there->annotation(model::made_by) != model::made_by_liqoctl) co_return Result<void>();
  for (const kube::Resource& resource : {kinds::tenants, kinds::identities, kinds::resource_slices}) {
    KUBE_CO_TRY(left, co_await cluster.list(resource, ns.name));
    if (!left.empty()) co_return Result<void>();
  }
  KUBE_CO_TRY(removed, co_await cluster.remove(kube::resources::namespaces, {"", ns.name}));
  if (!removed || session.flags().dry_run) co_return Result<void>();
  co_return co_await wait_for_namespace_to_go(cluster, session.deadline(), ns.name);
}

/// Asks for confirmation if the user may still be needed.
asio::awaitable<Result<void>> confirm_removal(Session& session, Cluster& cluster, std::string consumer) {
  KUBE_CO_TRY(tenants, co_await cluster.list(kinds::tenants, ""));
  for (const Object& tenant : tenants)
    if (kube::string_at(tenant.spec(), {"clusterID"}) == consumer && !tenant.is_deleting())
      co_return co_await session.confirm(consumer +
                                         " is still peered, and who has this user alone cannot unpeer "
                                         "without it.");
  co_return Result<void>();
}

asio::awaitable<Result<void>> remove(Session& session, const Flags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRYV(co_await confirm_removal(session, cluster, flags.consumer));
  const std::string selector = model::of_peering_user(flags.consumer);
  std::size_t count = 0;
  for (const kube::Resource& resource : {kinds::role_bindings, kube::resources::certificate_signing_requests}) {
    KUBE_CO_TRY(found, co_await cluster.list(resource, "", selector));
    for (const Object& object : found) {
      KUBE_CO_TRYV(co_await cluster.remove(resource, object.key()));
      ++count;
    }
  }
  if (count > 0 && !session.flags().dry_run) {
    session.output().success(cluster.scope(),
                             "peering user of " + flags.consumer + " deleted: its kubeconfig has no rights any more");
  } else if (count == 0) {
    session.output().info(cluster.scope(), "there is no peering user of " + flags.consumer);
  }
  // The peering user that ended the peering may not delete the namespace.
  co_return co_await remove_namespace(session, cluster, flags.consumer);
}

asio::awaitable<Result<void>> get(Session& session) {
  KUBE_CO_TRY(opened, co_await session.local());
  KUBE_CO_TRY(users, co_await list_peering_users(*opened));
  if (session.flags().output == Format::json)
    session.output().print(text::pretty_json(model::documents(users)));
  else if (session.flags().output == Format::yaml)
    session.output().print(text::yaml(model::documents(users)));
  else if (users.empty())
    session.output().info("", "there are no peering users");
  else
    session.output().print(model::listing(users, session.clock().wall()));
  co_return Result<void>();
}

}  // namespace

void add_peering_user(CommandLine& line) {
  line.command(line.verb("get"), {"peering-user", "Provider: list the users that can only peer one consumer"},
               {.prints = Prints::objects, .aliases = {"peering-users"}},
               [](Session& session) { return get(session); });
  for (const char* verb : {"generate", "create"}) {
    auto flags = std::make_shared<Flags>();
    const cli::Command app =
        line.command(line.verb(verb), {"peering-user", "Provider: make a user that can only peer one consumer"},
                     {.writes = true,
                      .creates = true,
                      .timeout = std::chrono::seconds(30),
                      .examples = "  liqoctl generate peering-user --consumer-cluster-id rome > rome-peering.yaml"},
                     [flags](Session& session) { return generate(session, *flags); });
    check_cluster_id(app.option("--consumer-cluster-id", flags->consumer, "ID of the consumer").required());
    app.option("--tls-compatibility-mode", flags->compatibility, "true: an RSA key instead of Ed25519 (auto is false)")
        .one_of({"auto", "true", "false"});
  }
  auto flags = std::make_shared<Flags>();
  const cli::Command app =
      line.command(line.verb("delete"), {"peering-user", "Provider: take the peering user's rights away"},
                   {.writes = true, .timeout = std::chrono::minutes(1)},
                   [flags](Session& session) { return remove(session, *flags); });
  check_cluster_id(app.option("--consumer-cluster-id", flags->consumer, "ID of the consumer").required());
}

}  // namespace liqoctl
