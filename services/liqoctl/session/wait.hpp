// Waits for controllers to act: with a deadline, and with lines about what is still missing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "session/cluster.hpp"

namespace liqoctl {

/// The result of one look: it is done, or what there is instead.
struct WaitState {
  bool done = false;
  std::string seen = {};  ///< "condition Ready is False: ..."; for the message of a time-out
  /// `seen` explains the wait, so that no other reason is looked for.
  bool says_why = false;
};

/// Why the wait takes long, in the words of another component, such as an Event; "" = unknown.
using Reason = std::function<asio::awaitable<std::string>()>;

struct Wait {
  std::string what;  ///< completes "waiting for"
  kube::Deadline deadline;
  bool needs_liqod = true;  ///< whether to report that liqod of that cluster does not run
};

/// Looks at once, and then again until it is done: soon at first, later every half second. Every ten seconds it prints
/// what is still missing. After two seconds it reads the Deployment of liqod and calls `reason`, and prints what
/// explains the wait. That is cancelled after three seconds and at the deadline, and skipped if `look` got no response.
/// Failures: Errc::timeout, and at once those of `look` that will not pass.
asio::awaitable<Result<void>> wait_for(Cluster& cluster, Wait wait,
                                       std::function<asio::awaitable<Result<WaitState>>()> look, Reason reason = {});

/// What explains a long wait: nothing, or the Warnings about the object since the wait began. If the peer that the
/// object is about does not respond, that is the explanation instead.
enum class Blame { nobody, warnings };

struct AwaitedObject {
  kube::Resource resource;
  kube::ObjectKey key;
  Blame blame = Blame::nobody;
};

/// Waits until one object is as wanted. `look` gets the object, or nullptr while there is none.
asio::awaitable<Result<void>> wait_for_object(Cluster& cluster, Wait wait, AwaitedObject object,
                                              std::function<WaitState(const Object*)> look);

/// Waits until the object is gone. `seen` returns what holds it up, for the message of a time-out.
asio::awaitable<Result<void>> wait_for_object_to_go(Cluster& cluster, Wait wait, AwaitedObject object,
                                                    std::function<std::string(const Object&)> seen = {});

/// Waits until a namespace is gone. `what` names its kind in messages. A time-out quotes its conditions.
asio::awaitable<Result<void>> wait_for_namespace_to_go(Cluster& cluster, kube::Deadline deadline, std::string name,
                                                       std::string_view what = "tenant namespace");

/// Waits until none of the objects is left. Reports if the peer that holds them does not respond.
asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, Wait wait, Selection selection);

/// The last Warning of liqod about an object since a command began, or without `began` of the last minutes: "liqod
/// says: ...". "" if there is none, or this user may not see it. An earlier Warning may be about an earlier request.
asio::awaitable<std::string> last_warning(Cluster& cluster, AwaitedObject object, std::string uid,
                                          std::optional<kube::WallTime> began = {});

/// "liqod of this cluster (rome) is scaled to none: kubectl scale ...", "liqod of cluster milan is scaled to none: ask
/// its operator ..."; "" if it runs, or that is not known.
asio::awaitable<std::string> absence_of_liqod(Cluster& cluster);

/// The last line of a command that failed. If liqod of one of these clusters, to which the command was connected, does
/// not respond to its API server, that is model::unreviewed(), else model::advised(). Looking for the reason takes at
/// most three seconds per cluster.
asio::awaitable<std::string> line_of(std::vector<Cluster*> clusters, kube::Failure failure);

/// "milan does not answer since ...", as liqod of the user's own cluster sees it; "" if it answers, or that is not
/// known.
asio::awaitable<std::string> silence_of(Cluster& cluster, std::string peer);

}  // namespace liqoctl
