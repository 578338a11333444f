// A deletion of an object that may be gone already.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// A deletion, and what it is for.
struct Removal {
  DeleteOptions options = {};
  std::string phase;  ///< comes before the text of a failure, e.g. "removing the Quota"
};

/// Asks the server to delete an object, which may stay until its finalizers are gone and its grace period is over.
/// Returns whether the server has taken the request; false if the object is gone. That is what 404 says, and also 409
/// if `options` has a UID and no resourceVersion: another object has the name by now. (A namespace that is ending
/// answers 409, too, and has nothing left to do.) Every other answer is a failure.
asio::awaitable<Result<bool>> remove_object(Api& api, Resource resource, ObjectKey key, Removal removal);

}  // namespace kube
