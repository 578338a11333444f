// The tenant namespaces of this cluster: the peer of each, and its Secrets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "kube/client/own_user.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Gives this process rights in each namespace that is labelled as a tenant namespace (RoleBinding
/// `liqo-liqod-tenant`), waits until the API server applies them, and then watches the Secrets there: an earlier watch
/// would be refused. Other controllers use these caches. A namespace that is being deleted is left at once. The rights
/// in it stay until no Secret there is guarded any more, because no RoleBinding can be created in a namespace that is
/// being deleted. One thread.
class TenantNamespaces final : public Runnable {
 public:
  /// Called with the key of a Secret that changed, and with {namespace, ""} when that namespace appeared, became
  /// readable, changed or went.
  using Handler = std::function<void(const kube::ObjectKey&)>;

  explicit TenantNamespaces(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

  /// The peer's cluster ID, "" if `ns` is no tenant namespace or is being deleted.
  std::string peer_of(std::string_view ns) const;
  /// An annotation of a tenant namespace, "" if there is none.
  std::string annotation(std::string_view ns, std::string_view key) const;
  /// Whether `ns` has a tenant namespace's labels and is being deleted.
  bool is_ending(std::string_view ns) const;
  /// All Secrets of a tenant namespace; null until they may be read and the first list is complete.
  kube::Informer* secrets(std::string_view ns) const;
  /// Call this before a Secret there gets a finalizer of replication: from then on our rights last as long as the
  /// Secret. This class releases them. Errors: Errc::missing if there are no rights.
  asio::awaitable<kube::Result<void>> hold_rights(std::string ns);
  /// The tenant namespaces whose Secrets are known.
  std::vector<std::string> readable() const;
  /// Adds a reader, for the life of this object.
  void subscribe(Handler handler) { readers_.push_back(std::move(handler)); }
  /// Makes a controller wait for these caches, and enqueues its `objects` in a tenant namespace when the namespace
  /// itself, and not only a Secret in it, has changed. For the life of this object.
  void watched_by(kube::Controller& controller, const kube::InformerHandle& objects);
  /// The role bindings that liqod makes, in all namespaces.
  kube::Informer& bindings() const { return *bindings_; }
  /// Adds a reader of the role bindings, for the life of this object.
  void subscribe_bindings(Handler handler) { bindings_.subscribe(std::move(handler)); }

 private:
  struct Entry {
    bool allowed = false;     ///< the API server has confirmed that the Secrets may be read
    kube::Duration pause{0};  ///< between the last two checks whether the Secrets may be read
    kube::InformerHandle secrets;
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Result<bool>> may_read_secrets(std::string ns);
  /// Releases the rights, unless credentials still need them; returns whether nothing holds them any more.
  asio::awaitable<kube::Result<bool>> release_rights(std::string ns);
  /// Whether there may be Secrets that replication uses, or certainly are some that it guards.
  bool has_credentials(std::string_view ns) const;
  bool has_guarded(std::string_view ns) const;
  void see_secrets(const kube::ObjectKey& key);
  void notify(const kube::ObjectKey& key) const;

  Context context_;
  kube::OwnUser user_;
  kube::InformerHandle namespaces_, bindings_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<Handler> readers_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
