// Finds out whether a claim has a volume of which the cache does not know yet.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "kube/client/api.hpp"
#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// Reads the volume of the claim live. If it exists, readers of `volumes` see it at once.
boost::asio::awaitable<kube::Result<bool>> has_live_volume(kube::Api& home, kube::Informer& volumes,
                                                           kube::Object claim);

}  // namespace liqo::controllers
