// How objects of a peering are taken away, for the commands that end one: each step can be done again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// Which tenant namespaces are deleted: all, none, or, where it is empty, those that liqoctl made.
using DeleteNamespaces = std::optional<bool>;
/// The flags that say so.
void add_delete_namespaces(cli::Command app, DeleteNamespaces& into);

/// Deletes the objects; with `wait`, it waits until they are gone.
asio::awaitable<Result<void>> remove_all(Session& session, Cluster& cluster, Selection selection, bool wait);

/// Deletes the NamespaceMaps of a provider whose last virtual node is gone, so that its twins end, also those that hold
/// data of volumes. Does not wait; a user without the right is no error.
asio::awaitable<Result<void>> release_twins(Session& session, Cluster& consumer, std::string provider);

/// `delete KIND NAME...`.
struct DeleteFlags {
  std::vector<std::string> names;
  std::string provider;  ///< "" = whichever has one of that name
  bool wait = true;
};
struct DeleteWords {
  std::string_view question;  ///< what its end brings
  std::string_view waiting;   ///< why it may take a while
};
/// Asks once for all, deletes them, and waits until each is gone. None is deleted where one is not there.
asio::awaitable<Result<void>> delete_objects(Session& session, kube::Resource resource, DeleteFlags flags,
                                             DeleteWords words);

/// An object by its name, and, where that is not unique, the peer whose label it has.
struct NamedObject {
  std::string name, peer = {};
};
/// Asks, deletes the object, and does not wait for its end. `consequence` ends the question.
asio::awaitable<Result<void>> delete_object(Session& session, kube::Resource resource, NamedObject named,
                                            std::string_view consequence);

/// Deletes the tenant namespace where that was asked for, or where liqoctl made it and no peering user needs it. The
/// caller makes sure that there is no peering in the other direction, which has the same namespace. Answers its name,
/// "" where it stays or is not there.
asio::awaitable<Result<std::string>> delete_namespace(Session& session, DeleteNamespaces which, Cluster& cluster,
                                                      std::string peer);

/// Consumer: deletes the ControlPlane Identity, and waits until its credentials are withdrawn.
asio::awaitable<Result<void>> forget_identity(Session& session, Cluster& consumer, std::string provider,
                                              std::string ns);
/// Provider: deletes the Tenant, and waits until it is gone.
asio::awaitable<Result<void>> forget_tenant(Session& session, Cluster& provider, std::string consumer, std::string ns);
/// Deletes the Secrets that nobody owns: the nonce, its signature, issued certificates. A user without the right leaves
/// them.
asio::awaitable<void> sweep_secrets(Cluster& cluster, std::string peer, std::string ns, bool provider);

}  // namespace liqoctl
