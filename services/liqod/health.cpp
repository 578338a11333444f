#include "health.hpp"

#include "kube/base/url.hpp"
#include "kube/net/http/plain_text.hpp"

namespace liqod {

kube::net::HttpHandler serve_health(std::function<std::string()> waiting_for, PeerNames names) {
  using kube::net::ServerRequest;
  using kube::net::ServerResponse;
  // The server keeps its handler for as long as any request is served.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  return [waiting_for = std::move(waiting_for), names](const ServerRequest& request,
                                                       ServerResponse& response) -> boost::asio::awaitable<void> {
    const std::string path(kube::path_of(request.target));
    int status = 200;
    ServerResponse::Headers more;
    std::string body = "ok";
    if (request.method != "GET" && request.method != "HEAD") {
      status = 405;
      more.emplace_back("allow", "GET, HEAD");
      body = "only GET is served here";
    } else if (path == "/readyz") {
      const std::string waiting = waiting_for();
      if (!waiting.empty()) status = 503;
      // The reason may name a peer.
      if (!waiting.empty()) body = names == PeerNames::numbered ? "not ready" : "not ready: " + waiting;
    } else if (path != "/healthz") {
      status = 404;
      body = "not found; there are /healthz and /readyz";
    }
    co_await kube::net::send_text(response, status, std::move(body), std::move(more));
  };
}

}  // namespace liqod
