// The advice at the end of a failed command's line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl::model {

/// A failure because an API server got no review from the webhooks of liqod.
struct Unreviewed {
  std::string before;  ///< the attempt: "authentication: update … in rome: "
  std::string cause;   ///< in the API server's words: "dial tcp 10.0.0.1:443: connect: connection refused"
  std::string after;   ///< advice of the command: ". Claim … is left …"
};
/// No value for any other failure.
std::optional<Unreviewed> read_unreviewed(const kube::Failure& failure);

/// The liqod that should have reviewed the request.
struct Reviewer {
  std::string who = {};    ///< "cluster milan"; "" = one of the two, unknown which
  std::string ns = {};     ///< its namespace, if the reader operates it; "" = another operator does
  std::string alert = {};  ///< the state of a liqod that does not run; "" = unknown, so the cause is shown
};
/// The line about such a failure. A sentence about liqod replaces that of the API server.
std::string unreviewed(const Unreviewed& failed, const Reviewer& reviewer);

/// The text of any other failure. Advice that is the same for every command is added: for a server that cannot be
/// connected to, a user without a right, and a cluster without Liqo's CRDs. In the latter two cases, a text that names
/// a command of liqoctl is enough already.
std::string advised(const kube::Failure& failure);

/// The sentence about a file that could not be read: "there is no file milan.yaml", or that it cannot be read.
std::string unreadable(const std::string& path);

}  // namespace liqoctl::model
