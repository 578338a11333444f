// Reviews of the user of these credentials: the name and the rights that the API server knows.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/client/api.hpp"

namespace kube {

/// The name by which the API server knows this user (a SelfSubjectReview); "" if its answer has none. Errors: those of
/// Api::post().
asio::awaitable<Result<std::string>> own_username(Api& api);

/// Whether this user may do that (a SelfSubjectAccessReview). `attributes` are its `resourceAttributes`, such as
/// namespace, verb and resource. Errors: those of Api::post().
asio::awaitable<Result<bool>> may_do(Api& api, json::object attributes);

}  // namespace kube
