// A deletion of an object that may be gone already.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// A deletion, and what it is for.
struct Removal {
  DeleteOptions options = {};
  std::string phase;  ///< stands before the text of a failure, e.g. "removing the Quota"
};

/// Has an object deleted, which may stay for longer: until its finalizers and its grace period have gone. Answers
/// whether the server has taken the request; false where the object is gone. That is what 404 says, and also 409 where
/// `options` has a UID and no resourceVersion: another object has the name by now. (A namespace that is ending answers
/// 409, too, and has nothing left to do.) Every other answer is a failure.
asio::awaitable<Result<bool>> remove_object(Api& api, Resource resource, ObjectKey key, Removal removal);

}  // namespace kube
