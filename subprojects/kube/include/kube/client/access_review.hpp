// Reviews of the rights of any user.
// Tested by test/client/access_review_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "kube/client/api.hpp"

namespace kube {

/// Whether a user may do something: it is allowed, and not denied (a SubjectAccessReview). `spec` is that of the
/// review: `user`, `groups` and `extra`, and `resourceAttributes` or `nonResourceAttributes`. Errors: those of
/// Api::post().
asio::awaitable<Result<bool>> has_access(Api& api, json::object spec);

}  // namespace kube
