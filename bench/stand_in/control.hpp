// The port by which a bench controls its stand-ins, over plain HTTP/1.1.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/net/http/http_server.hpp"
#include "provider.hpp"

namespace liqo::bench {

/// The paths that it serves:
///
///     /N/api…, /N/apis…     the API of the N-th stand-in, from 0 on; watches are refused (400)
///     GET /N/writes?from=W  the writes that have reached it since the W-th: {"next": W', "writes": {what: {"count",
///                           "first", "last"}}}; `what` is "<actor> <method> <plural>[/<subresource>] <code>", the
///                           actor is liqod or bench, times are seconds by the clock of that stand-in
///     PUT /silence?on=1     all of them keep requests and send nothing, until on=0
///     PUT /delay?ms=10      all of them begin each answer to a consumer so much later
///
/// Does not authenticate callers. One thread.
class Control {
 public:
  /// The stand-ins must outlive it.
  Control(asio::any_io_executor executor, kube::async::Clock& clock, std::string address, std::uint16_t port,
          std::vector<std::unique_ptr<Provider>>& providers);

  /// Errors as kube::net::HttpServer::listen().
  kube::Result<std::uint16_t> listen() { return server_.listen(); }
  asio::awaitable<void> serve() { return server_.serve(); }

 private:
  kube::testing::FakeAnswer answer(const kube::net::ServerRequest& request);
  kube::testing::FakeAnswer order(std::string_view target);

  std::vector<std::unique_ptr<Provider>>& providers_;
  kube::net::HttpServer server_;
};

}  // namespace liqo::bench
