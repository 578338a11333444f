// Role bindings, kept as they should be.
// Tested by test/unit/controllers/peering/tenant_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Makes a RoleBinding or ClusterRoleBinding what `wanted` is: creates it, repairs its subjects, or replaces it where
/// its role is another one, which cannot be changed in place. `informer` watches bindings of that kind.
asio::awaitable<kube::Result<void>> ensure_binding(kube::Api& api, kube::Informer& informer, kube::Object wanted);

}  // namespace liqo::controllers
