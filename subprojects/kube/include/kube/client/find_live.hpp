// An object as the API server has it now, if it is there.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "kube/client/api.hpp"

namespace kube {

/// Reads an object from the server, not from a cache; nothing if the server answers 404, which it also does while it
/// does not know the resource. Errors: those of Api::get().
asio::awaitable<Result<std::optional<Object>>> find_live(Api& api, Resource resource, ObjectKey key);

}  // namespace kube
