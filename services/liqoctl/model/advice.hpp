// What a command that failed says at the end of its line about what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl::model {

/// Why an API server got no review from the webhooks of liqod, in its words: "dial tcp 10.0.0.1:443: connect:
/// connection refused"; nothing for any other failure.
std::optional<std::string> why_unreviewed(const kube::Failure& failure);

/// The sentence about such a failure. `who`: the cluster, "cluster milan"; `ns`: the namespace of its liqod; `alert`:
/// what is known of a liqod that does not run, "" = nothing, and the cause is told.
std::string unreviewed(std::string_view who, std::string_view ns, std::string_view alert, std::string_view cause);

/// The text of any other failure, and what to do about it where that is the same for every command: for a user without
/// a right, and for a cluster without Liqo's kinds. What names a command of liqoctl already says enough.
std::string advised(const kube::Failure& failure);

/// What to do about a file that could not be read: "there is no file milan.yaml", or that it cannot be read.
std::string unreadable(const std::string& path);

}  // namespace liqoctl::model
