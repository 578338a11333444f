// Waiting for what controllers do: with a deadline, and with words about what is still missing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "session/cluster.hpp"

namespace liqoctl {

/// What one look found: what was waited for, or what there is instead.
struct Look {
  bool done = false;
  std::string seen = {};  ///< "condition Ready is False: ..."; for the message of a time-out
  /// `seen` says why, so that nobody else is asked for the reason.
  bool says_why = false;
};

/// Why the wait takes long, in the words of another component, such as an Event; "" = nobody says.
using Reason = std::function<asio::awaitable<std::string>()>;

struct Wait {
  std::string what;  ///< completes "waiting for"
  kube::Deadline deadline;
  bool needs_liqod = true;  ///< who waits in vain is told where liqod of that cluster does not run
};

/// Looks at once and then again and again, soon at first and every half second later, until it is done. What is still
/// missing is told every ten seconds. After two seconds the Deployment of liqod is looked at and `reason` is asked, and
/// told what explains the wait: this is cancelled after three seconds and at the deadline, and not asked where `look`
/// got no answer. Failures: Errc::timeout, and at once those of `look` that will not pass.
asio::awaitable<Result<void>> wait_for(Cluster& cluster, Wait wait, std::function<asio::awaitable<Result<Look>>()> look,
                                       Reason reason = {});

/// What explains a long wait: nothing, or the Warnings about the object since it began, unless the peer that it is
/// about does not answer.
enum class Blame { nobody, warnings };

struct AwaitedObject {
  kube::Resource resource;
  kube::ObjectKey key;
  Blame blame = Blame::nobody;
};

/// Waits until one object is as wanted: `look` gets it, or nullptr while there is none.
asio::awaitable<Result<void>> wait_for_object(Cluster& cluster, Wait wait, AwaitedObject object,
                                              std::function<Look(const Object*)> look);

/// Waits until the object is gone. `seen` says what holds it up, for the message of a time-out.
asio::awaitable<Result<void>> wait_for_object_to_go(Cluster& cluster, Wait wait, AwaitedObject object,
                                                    std::function<std::string(const Object&)> seen = {});

/// Waits until a namespace is gone, which `what` calls by its kind. A time-out says what its conditions say.
asio::awaitable<Result<void>> wait_for_namespace_to_go(Cluster& cluster, kube::Deadline deadline, std::string name,
                                                       std::string_view what = "tenant namespace");

/// Waits until none of the objects is left, and says so where the peer that holds them does not answer.
asio::awaitable<Result<void>> wait_for_absence(Cluster& cluster, Wait wait, Selection selection);

/// What liqod has warned of an object since a command began, or without that lately: "liqod says: ..."; "" where that
/// is nothing, or this user may not see it. A Warning of before may be about what was asked for then.
asio::awaitable<std::string> last_warning(Cluster& cluster, AwaitedObject object, std::string uid,
                                          std::optional<kube::WallTime> began = {});

/// "liqod of this cluster (rome) is scaled to none: kubectl scale ...", "liqod of cluster milan is scaled to none: ask
/// its operator ..."; "" where it runs, or nobody says.
asio::awaitable<std::string> absence_of_liqod(Cluster& cluster);

/// The last line of a command that failed: where liqod of one of these clusters, which the command was connected to,
/// does not answer its API server, model::unreviewed(), else model::advised(). What is asked for it takes three seconds
/// at most for each.
asio::awaitable<std::string> line_of(std::vector<Cluster*> clusters, kube::Failure failure);

/// "milan does not answer since ...", as liqod of the user's own cluster sees it; "" where it does, or nobody says.
asio::awaitable<std::string> silence_of(Cluster& cluster, std::string peer);

}  // namespace liqoctl
