// Reads live how new the ShadowPods of this cluster are.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "kube/client/api.hpp"

namespace liqo::quota {

/// The newest version of the ShadowPods that are stored now with these labels; 0 = there are none. Lists them all.
/// Errors: those of kube::list_all().
boost::asio::awaitable<kube::Result<std::uint64_t>> newest_shadow_pod(kube::Api& replica_api,
                                                                      std::string label_selector);

/// The version of the list of ShadowPods, which is that of the server's database now. Reads one of them. Errors: those
/// of Api::list().
boost::asio::awaitable<kube::Result<std::uint64_t>> server_version(kube::Api& replica_api);

}  // namespace liqo::quota
