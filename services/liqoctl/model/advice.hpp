// What a command that failed says at the end of its line about what to do.
#pragma once

#include <string>

#include "kube/base/failure.hpp"

namespace liqoctl::model {

/// The text of a failure, and what to do about it where that is the same for every command: for a user without a right,
/// for a cluster without Liqo's kinds, and for one whose liqod does not answer its API server. What names a command of
/// liqoctl already says enough.
std::string advised(const kube::Failure& failure);

/// What to do about a file that could not be read: "there is no file milan.yaml", or that it cannot be read.
std::string unreadable(const std::string& path);

}  // namespace liqoctl::model
