#include "session/cluster.hpp"

#include <algorithm>

#include "core/common/peer_names.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "kube/net/auth/exec_plugin.hpp"
#include "liqo/api/labels.hpp"
#include "model/objects.hpp"
#include "model/selectors.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
namespace json = kube::json;

constexpr int max_attempts = 8;

std::string dry_key(const kube::Resource& resource, const kube::ObjectKey& key) {
  return std::string(resource.plural) + "/" + key.text();
}

/// Puts the entries of `from` into `into`. Nested objects are merged, everything else is replaced. Returns whether that
/// changed anything. Amounts of resources compare by value, because servers rewrite them.
bool merge(json::object& into, const json::object& from) {
  bool changed = false;
  for (const auto& [key, value] : from) {
    json::value* there = into.if_contains(key);
    if (there && there->is_object() && value.is_object()) {
      if (key == "resources" && model::same_amounts(there->get_object(), value.get_object())) continue;
      changed |= merge(there->get_object(), value.get_object());
    } else if (!there || *there != value) {
      into[key] = value;
      changed = true;
    }
  }
  return changed;
}

/// The exec plugin of a kubeconfig that the user has named. While it uses the terminal, no spinner turns.
class UsersPlugin final : public kube::net::CredentialPlugin {
 public:
  explicit UsersPlugin(const ClusterContext& context)
      : runner_(context.outside.clock, {.terminal = context.outside.terminal.traits().can_be_asked}),
        output_(context.output) {}

  asio::awaitable<Result<kube::wire::ExecCredential>> ask(kube::wire::ClusterConfig config) override {
    output_.clear();
    return runner_.ask(std::move(config));
  }

 private:
  kube::net::ExecPluginRunner runner_;
  Output& output_;
};

}  // namespace

Cluster::Cluster(const ClusterContext& context, Side side, std::shared_ptr<kube::net::Credentials> credentials)
    : clock_(context.outside.clock),
      output_(context.output),
      flags_(context.flags),
      side_(side),
      config_(credentials->config()),
      random_(context.outside.seed + (side == Side::remote ? 1 : 0)),
      connection_(context.outside.connect(std::move(credentials))) {
  const std::string name =
      config_.cluster.empty() ? (is_remote() ? "the remote cluster" : "the cluster") : config_.cluster;
  api_ = std::make_unique<kube::Api>(connection_->transport(), clock_, random_, metrics_,
                                     kube::ApiSettings{.cluster = name});
}

asio::awaitable<Result<std::unique_ptr<Cluster>>> Cluster::open(ClusterContext context, Side side,
                                                                kube::wire::ClusterConfig config) {
  KUBE_CO_TRY(credentials, kube::net::Credentials::make(std::move(config), context.outside.clock,
                                                        std::make_unique<UsersPlugin>(context)));
  // Not under the deadline of a request, because the user may have to log in.
  KUBE_CO_TRYV(co_await credentials->ready(), "user '" + credentials->config().user + "'");
  co_return std::unique_ptr<Cluster>(new Cluster(context, side, std::move(credentials)));
}

std::string Cluster::ns() const {
  if (!flags_.ns.empty()) return flags_.ns;
  return config_.ns.empty() ? "default" : config_.ns;
}

std::string Cluster::liqo_namespace() const { return is_remote() ? flags_.remote_liqo_namespace : flags_.liqo(); }

asio::awaitable<Result<std::string>> Cluster::id() {
  if (!id_.empty()) co_return id_;
  auto usual =
      co_await find(kube::resources::config_maps, {liqo_namespace(), std::string(liqo::core::cluster_id_config_map)});
  if (!usual && usual.error().is_forbidden() && is_remote())
    usual.error() = std::move(usual.error())
                        .in("a peering user that was deleted has no rights any more (liqoctl "
                            "generate peering-user makes another)");
  if (!usual) co_return kube::fail(std::move(usual.error()), "reading the cluster ID");
  std::string told;
  if (*usual) told = kube::string_at((*usual)->tree(), {"data", liqo::core::cluster_id_key});
  if (told.empty()) {
    // The ConfigMap has another name only if it was installed by hand. A peering user may not look for it.
    KUBE_CO_TRY(
        found,
        co_await list(kube::resources::config_maps, liqo_namespace(), "app.kubernetes.io/name=clusterid-configmap"),
        "reading the cluster ID");
    for (const Object& map : found)
      if (const auto id = kube::string_at(map.tree(), {"data", liqo::core::cluster_id_key}); !id.empty()) told = id;
  }
  if (told.empty())
    co_return kube::fail(Errc::missing, "cluster " + api_->cluster() + " has no cluster ID in namespace " +
                                            liqo_namespace() + ": is Liqo installed there? (liqoctl install --help)");
  // The ID becomes part of selectors and of names of objects.
  if (!liqo::core::is_cluster_id(told))
    co_return kube::fail(Errc::invalid_input, "cluster " + api_->cluster() + " calls itself " + kube::in_quotes(told) +
                                                  ", which no cluster ID is: a DNS label of at most 51 characters");
  if (is_remote() && !flags_.remote_cluster_id.empty() && told != flags_.remote_cluster_id)
    co_return kube::fail(Errc::invalid_input, "the remote kubeconfig leads to cluster " + told + ", not to " +
                                                  flags_.remote_cluster_id + " as --remote-cluster-id says");
  id_ = std::move(told);
  co_return id_;
}

asio::awaitable<Result<void>> Cluster::learn_id() {
  auto usual =
      co_await find(kube::resources::config_maps, {liqo_namespace(), std::string(liqo::core::cluster_id_config_map)});
  // A server that does not know the user at all does not serve anything else either.
  if (!usual && (usual.error().code() != Errc::api || usual.error().http_code() == 401))
    co_return std::unexpected(std::move(usual.error()));
  if (!usual || !*usual) co_return Result<void>();
  std::string told(kube::string_at((*usual)->tree(), {"data", liqo::core::cluster_id_key}));
  const bool other = is_remote() && !flags_.remote_cluster_id.empty() && told != flags_.remote_cluster_id;
  if (liqo::core::is_cluster_id(told) && !other) id_ = std::move(told);
  co_return Result<void>();
}

asio::awaitable<Result<Cluster::TenantNamespace>> Cluster::tenant_namespace(const std::string& peer) {
  namespace labels = liqo::api::labels;
  const std::string usual = liqo::core::tenant_namespace_name(peer);
  const std::string selector = model::about(peer) + "," + std::string(labels::tenant_namespace);
  auto found = co_await list(kube::resources::namespaces, "", selector);
  if (found) {
    if (found->size() > 1)
      co_return kube::fail(Errc::invalid_input, "cluster " + api_->cluster() + " has " + std::to_string(found->size()) +
                                                    " tenant namespaces for " + peer +
                                                    ": remove the label liqo.io/tenant-namespace from all but one");
    if (found->empty()) co_return TenantNamespace{.name = usual};
    co_return TenantNamespace{
        .name = std::string(found->front().name()), .exists = true, .is_ending = found->front().is_deleting()};
  }
  if (!found.error().is_forbidden()) co_return std::unexpected(std::move(found.error()));
  // A peering user may read no namespace but its own.
  KUBE_CO_TRY(own, co_await find(kube::resources::namespaces, {"", usual}));
  co_return TenantNamespace{
      .name = usual, .exists = own.has_value(), .is_ending = own.has_value() && own->is_deleting()};
}

asio::awaitable<Result<std::string>> Cluster::existing_tenant_namespace(const std::string& peer) {
  KUBE_CO_TRY(found, co_await tenant_namespace(peer));
  if (!found.exists && !would_be_new(kube::resources::namespaces, {"", found.name}))
    co_return kube::fail(Errc::missing, "cluster " + api_->cluster() + " has no tenant namespace for " + peer +
                                            ": the clusters are not peered (liqoctl peer)");
  co_return found.name;
}

asio::awaitable<Result<std::vector<Object>>> Cluster::list(const kube::Resource& resource, std::string ns,
                                                           std::string label_selector, std::string field_selector) {
  std::vector<Object> out;
  KUBE_CO_TRYV(co_await kube::list_all(
      *api_, {resource, std::move(ns)}, {.selection = {std::move(label_selector), std::move(field_selector)}},
      [&](Object object) {
        json::object tree{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
        for (auto& [key, value] : object.tree()) tree[key] = std::move(value);
        out.emplace_back(std::move(tree));
        return true;
      }));
  co_return out;
}

asio::awaitable<Result<std::optional<Object>>> Cluster::find(const kube::Resource& resource, kube::ObjectKey key) {
  return kube::find_live(*api_, resource, std::move(key));
}

void Cluster::print_dry(std::string_view verb, const Object& object) {
  output_.info(scope(), "would " + std::string(verb) + " " + std::string(object.kind()) + " " + object.key().text());
  if (verb == "delete") return;
  if (flags_.output == Format::json) {
    output_.print(text::pretty_json(object.tree()));
  } else {
    output_.print("---\n# " + scope() + ": " + std::string(verb) + "\n" + text::yaml(object.tree()));
  }
}

asio::awaitable<Result<Object>> Cluster::create(const kube::Resource& resource, Object object) {
  KUBE_CO_TRY(labels, model::pairs(flags_.global_labels, "--global-labels"));
  KUBE_CO_TRY(annotations, model::pairs(flags_.global_annotations, "--global-annotations"));
  object.set_labels(labels);
  for (const auto& [key, value] : annotations) object.set_annotation(key, value.get_string());
  if (flags_.dry_run) {
    print_dry("create", object);
    dry_created_.insert(dry_key(resource, object.key()));
    co_return object;
  }
  co_return co_await api_->create(resource, object);
}

asio::awaitable<Result<Object>> Cluster::replace(const kube::Resource& resource, Object object) {
  if (flags_.dry_run) {
    print_dry("update", object);
    co_return object;
  }
  co_return co_await api_->replace(resource, object);
}

asio::awaitable<Result<bool>> Cluster::remove(const kube::Resource& resource, kube::ObjectKey key,
                                              kube::DeleteOptions options) {
  if (flags_.dry_run) {
    KUBE_CO_TRY(found, co_await find(resource, key));
    if (found) print_dry("delete", Object::make(resource, key));
    co_return found.has_value();
  }
  auto removed = co_await api_->remove(resource, key, options);
  if (removed) co_return true;
  if (removed.error().is_not_found()) co_return false;
  co_return std::unexpected(std::move(removed.error()));
}

bool Cluster::would_be_new(const kube::Resource& resource, const kube::ObjectKey& key) const {
  return dry_created_.contains(dry_key(resource, key));
}

asio::awaitable<Result<Ensured>> update(Cluster& cluster, const kube::Resource& resource, kube::ObjectKey key,
                                        std::function<bool(Object&)> change) {
  for (int attempt = 1;; ++attempt) {
    KUBE_CO_TRY(found, co_await cluster.api().get(resource, key));
    if (!change(found)) co_return Ensured::unchanged;
    auto written = co_await cluster.replace(resource, found);
    if (written) co_return cluster.flags().dry_run ? Ensured::dry_run : Ensured::changed;
    if (!written.error().is_conflict() || attempt == max_attempts)
      co_return std::unexpected(std::move(written.error()));
  }
}

asio::awaitable<Result<Ensured>> ensure(Cluster& cluster, const kube::Resource& resource, Object wanted,
                                        std::vector<std::string> replaced) {
  KUBE_CO_TRY(created, co_await cluster.find(resource, wanted.key()));
  if (!created) {
    auto made = co_await cluster.create(resource, wanted);
    if (made) co_return cluster.flags().dry_run ? Ensured::dry_run : Ensured::created;
    // Another client has created it meanwhile, so it is updated.
    if (!made.error().is_already_exists()) co_return std::unexpected(std::move(made.error()));
  }
  const std::function<bool(Object&)> change = [&](Object& there) {
    bool changed = false;
    const json::object& metadata = wanted.metadata();
    for (const std::string_view field : {"labels", "annotations"})
      if (const auto& entries = kube::object_at(metadata, {field}); !entries.empty())
        changed |= merge(kube::ensure_object(there.mutable_metadata(), field), entries);
    if (!wanted.spec().empty()) {
      auto& spec = there.mutable_spec();
      for (const std::string& field : replaced) {
        const json::value* now = spec.if_contains(field);
        const json::value* then = wanted.spec().if_contains(field);
        if (!now || !then || *now == *then) continue;
        if (now->is_object() && then->is_object() && model::same_amounts(now->get_object(), then->get_object()))
          continue;
        spec[field] = *then;
        changed = true;
      }
      changed |= merge(spec, wanted.spec());
    }
    return changed;
  };
  co_return co_await update(cluster, resource, wanted.key(), change);
}

std::string_view in_words(Ensured ensured) {
  switch (ensured) {
    case Ensured::created:
      return "created";
    case Ensured::changed:
      return "updated";
    case Ensured::unchanged:
      return "unchanged";
    case Ensured::dry_run:
      return "not written (dry run)";
  }
  return "";
}

}  // namespace liqoctl
