// Deletes the objects of a peering, for the commands that end one. Each step can be repeated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// The tenant namespaces to delete: all, none, or, if it has no value, those that liqoctl made.
using DeleteNamespaces = std::optional<bool>;
/// Adds the flags that set it.
void add_delete_namespaces(cli::Command app, DeleteNamespaces& into);

/// Deletes the objects; with `wait`, it waits until they are gone.
asio::awaitable<Result<void>> remove_all(Session& session, Cluster& cluster, Selection selection, bool wait);

/// Deletes the NamespaceMaps of a provider whose last virtual node is gone, so that its twins end, also those that hold
/// data of volumes. Does not wait. A user without the right is no error.
asio::awaitable<Result<void>> release_twins(Session& session, Cluster& consumer, std::string provider);

/// `delete KIND NAME...`.
struct DeleteFlags {
  std::vector<std::string> names;
  std::string provider;  ///< "" = any that has an object of that name
  bool wait = true;
};
struct DeleteWords {
  std::string_view question;  ///< the consequence of the deletion
  std::string_view waiting;   ///< why the deletion may take a while
};
/// Asks once for all, deletes them, and waits until each is gone. Deletes none if one is missing.
asio::awaitable<Result<void>> delete_objects(Session& session, kube::Resource resource, DeleteFlags flags,
                                             DeleteWords words);

/// An object by its name, and by the peer in its label if the name is not unique.
struct NamedObject {
  std::string name, peer = {};
};
/// Asks, and deletes the object without waiting for its end. `consequence` ends the question.
asio::awaitable<Result<void>> delete_object(Session& session, kube::Resource resource, NamedObject named,
                                            std::string_view consequence);

/// Deletes the tenant namespace if the user asked for that, or if liqoctl made it and no peering user needs it. The
/// caller makes sure that there is no peering in the other direction, which uses the same namespace. Returns the
/// namespace's name, "" if it stays or is missing.
asio::awaitable<Result<std::string>> delete_namespace(Session& session, DeleteNamespaces which, Cluster& cluster,
                                                      std::string peer);

/// Consumer: deletes the ControlPlane Identity, and waits until its credentials are withdrawn.
asio::awaitable<Result<void>> forget_identity(Session& session, Cluster& consumer, std::string provider,
                                              std::string ns);
/// Provider: deletes the Tenant, and waits until it is gone.
asio::awaitable<Result<void>> forget_tenant(Session& session, Cluster& provider, std::string consumer, std::string ns);
/// Deletes the Secrets that have no owner: the nonce, its signature, issued certificates. A user without the right
/// leaves them.
asio::awaitable<void> sweep_secrets(Cluster& cluster, std::string peer, std::string ns, bool provider);

}  // namespace liqoctl
