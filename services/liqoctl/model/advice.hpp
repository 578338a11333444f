// What a command that failed says at the end of its line about what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl::model {

/// A failure because an API server got no review from the webhooks of liqod.
struct Unreviewed {
  std::string before;  ///< what was tried: "authentication: update … in rome: "
  std::string cause;   ///< in the API server's words: "dial tcp 10.0.0.1:443: connect: connection refused"
  std::string after;   ///< advice of the command: ". Claim … is left …"
};
/// Nothing for any other failure.
std::optional<Unreviewed> read_unreviewed(const kube::Failure& failure);

/// Whose liqod it was that had to review.
struct Reviewer {
  std::string who = {};    ///< "cluster milan"; "" = one of the two, and nobody knows which
  std::string ns = {};     ///< its namespace, where the reader runs it; "" = the operator of another cluster does
  std::string alert = {};  ///< what is known of a liqod that does not run, "" = nothing, and the cause is told
};
/// The line about such a failure, in which a sentence about liqod stands for that of the API server.
std::string unreviewed(const Unreviewed& failed, const Reviewer& reviewer);

/// The text of any other failure, and what to do about it where that is the same for every command: for a server that
/// cannot be connected to, a user without a right, and a cluster without Liqo's kinds. What names a command of liqoctl
/// already says enough about the latter two.
std::string advised(const kube::Failure& failure);

/// What to do about a file that could not be read: "there is no file milan.yaml", or that it cannot be read.
std::string unreadable(const std::string& path);

}  // namespace liqoctl::model
