// A connection to one cluster, and the few things that every command does through it.
// Tested by test/unit/liqoctl/session/session_test.cpp and test/unit/liqoctl/commands/control_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command_line/flags.hpp"
#include "kube/client/api.hpp"
#include "session/context.hpp"
#include "session/output.hpp"

namespace liqoctl {

using kube::Object;
using kube::Result;

/// Objects of one kind.
struct Selection {
  kube::Resource resource;
  std::string ns = {};  ///< "" = of all namespaces
  std::string label_selector = {};
};

/// The result of ensuring that an object exists.
enum class Ensured { created, changed, unchanged, dry_run };

/// The context that the clusters of a command share.
struct ClusterContext {
  const SessionContext& outside;
  Output& output;
  const CommonFlags& flags;
};

/// One cluster as one user. Commands with `--dry-run` write through create(), replace() and remove(), which honour that
/// flag: they send nothing, and print the object and its place instead. They also add the global labels to new objects.
/// Commands without `--dry-run` patch and apply through api().
class Cluster {
 public:
  /// Runs the exec plugin of the kubeconfig, which may use the terminal. Connects at the first request. Errors:
  /// Errc::missing, Errc::invalid_input and the like.
  static asio::awaitable<Result<std::unique_ptr<Cluster>>> open(ClusterContext context, Side side,
                                                                kube::wire::ClusterConfig config);

  kube::Api& api() { return *api_; }
  /// For exec.
  kube::net::Upgrader& upgrader() { return connection_->upgrader(); }
  kube::async::Clock& clock() { return clock_; }
  Output& output() { return output_; }
  const CommonFlags& flags() const { return flags_; }
  /// Whether it is the remote one of a command on two clusters.
  bool is_remote() const { return side_ == Side::remote; }
  const kube::wire::ClusterConfig& config() const { return config_; }
  /// The cluster's ID, for lines of progress. While that is not known, the name of the cluster in the kubeconfig.
  std::string scope() const { return id_.empty() ? api_->cluster() : id_; }
  /// The namespace that `-n` or the context names, or "default".
  std::string ns() const;
  std::string liqo_namespace() const;
  asio::awaitable<void> stop() { co_await connection_->stop(); }

  /// The cluster's ID, from the ConfigMap labelled app.kubernetes.io/name=clusterid-configmap in Liqo's namespace.
  /// Errors: among others Errc::invalid_input for a text that cannot be an ID.
  asio::awaitable<Result<std::string>> id();
  /// Reads the ID for scope(). A user without the right to read it is no error, a cluster that does not respond is.
  asio::awaitable<Result<void>> learn_id();
  /// The tenant namespace of a peer: the one with its label, or the default one that does not exist yet.
  struct TenantNamespace {
    std::string name;
    bool exists = false;
    bool is_ending = false;  ///< it exists, and is being deleted
  };
  asio::awaitable<Result<TenantNamespace>> tenant_namespace(const std::string& peer);
  /// The name of a peer's tenant namespace; an error if the namespace does not exist.
  asio::awaitable<Result<std::string>> existing_tenant_namespace(const std::string& peer);

  /// All objects, in pages, each with apiVersion and kind. `ns` "" = all namespaces.
  asio::awaitable<Result<std::vector<Object>>> list(const kube::Resource& resource, std::string ns,
                                                    std::string label_selector = {}, std::string field_selector = {});
  /// The object; no value if the server reports that there is none.
  asio::awaitable<Result<std::optional<Object>>> find(const kube::Resource& resource, kube::ObjectKey key);

  asio::awaitable<Result<Object>> create(const kube::Resource& resource, Object object);
  asio::awaitable<Result<Object>> replace(const kube::Resource& resource, Object object);
  /// Returns whether there was an object to delete.
  asio::awaitable<Result<bool>> remove(const kube::Resource& resource, kube::ObjectKey key,
                                       kube::DeleteOptions options = {});

  /// Whether this object would be new under `--dry-run`, so that later steps cannot read it back.
  bool would_be_new(const kube::Resource& resource, const kube::ObjectKey& key) const;

 private:
  Cluster(const ClusterContext& context, Side side, std::shared_ptr<kube::net::Credentials> credentials);
  void print_dry(std::string_view verb, const Object& object);

  kube::async::Clock& clock_;
  Output& output_;
  const CommonFlags& flags_;
  Side side_;
  kube::wire::ClusterConfig config_;
  kube::Random random_;
  kube::Metrics metrics_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<kube::Api> api_;
  std::string id_;
  std::set<std::string> dry_created_;
};

/// Reads the object, lets `change` edit it (which returns whether it changed anything), and writes it back. Retries
/// after a conflict. Errors: those of the verbs, among them NotFound.
asio::awaitable<Result<Ensured>> update(Cluster& cluster, const kube::Resource& resource, kube::ObjectKey key,
                                        std::function<bool(Object&)> change);

/// Creates the object. An existing one gets the labels, annotations and fields of the spec that `wanted` has, and keeps
/// the rest. `replaced` names fields of the spec whose old content is dropped, e.g. "resources".
asio::awaitable<Result<Ensured>> ensure(Cluster& cluster, const kube::Resource& resource, Object wanted,
                                        std::vector<std::string> replaced = {});

/// "created", "updated", "unchanged", "not written (dry run)": for a line of progress.
std::string_view in_words(Ensured ensured);

}  // namespace liqoctl
