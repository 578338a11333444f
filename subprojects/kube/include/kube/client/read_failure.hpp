// The failure that a server answered instead of what was asked for.
// Tested by test/client/api_requests_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "kube/async/clock.hpp"
#include "kube/base/memory_account.hpp"
#include "kube/net/transport.hpp"

namespace kube {

namespace asio = boost::asio;

/// Makes a Failure of an answer other than 2xx: reads its body until the deadline, for three seconds and up to 256 KiB
/// at most, and parses it with memory of the account, if there is one. For programs that send requests by a
/// net::Transport themselves, because they pass the body of the answer on as it comes.
asio::awaitable<Failure> read_failure(net::Response& response, async::Clock& clock, Deadline deadline,
                                      std::shared_ptr<MemoryAccount> account = MemoryAccount::of_process());

}  // namespace kube
