// A fake provider that accepts streams.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kube/net/transport.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace liqo::test {

namespace asio = boost::asio;

/// Answers each upgrade with the prepared stream, unless there is a refusal.
class UpgradingLink final : public kube::net::Transport, public kube::net::Upgrader {
 public:
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest, kube::Deadline) override {
    co_return kube::fail(kube::Errc::unsupported, "upgrades only");
  }
  asio::awaitable<kube::Result<kube::net::Upgraded>> upgrade(kube::HttpRequest request, kube::Deadline) override {
    const std::string wanted = header(request, "upgrade");
    if (refusal) co_return std::unexpected(*refusal);
    kube::net::Upgraded answer;
    answer.head.status = wanted.empty() ? 401 : wanted == "websocket" && speaks_spdy ? 403 : 101;
    if (answer.head.status != 101) co_return answer;
    answer.stream = std::move(next);
    auto& headers = answer.head.headers;
    if (speaks_spdy) {
      headers.emplace_back("x-stream-protocol-version", header(request, "x-stream-protocol-version"));
    } else {
      headers.emplace_back("sec-websocket-protocol", header(request, "sec-websocket-protocol"));
      headers.emplace_back("sec-websocket-accept", kube::wire::websocket_accept(header(request, "sec-websocket-key")));
    }
    co_return answer;
  }

  bool speaks_spdy = false;
  std::optional<kube::Failure> refusal;
  std::unique_ptr<kube::net::ByteStream> next;

 private:
  static std::string header(const kube::HttpRequest& request, std::string_view name) {
    for (const auto& [key, value] : request.headers)
      if (key == name) return value;
    return {};
  }
};

/// The headers by which API servers ask for a protocol: SPDY, or a WebSocket.
inline kube::net::ServerResponse::Headers upgrade_headers(bool is_spdy, std::string protocol) {
  if (is_spdy) return {{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", protocol}};
  return {{"connection", "Upgrade"},
          {"upgrade", "websocket"},
          {"sec-websocket-version", "13"},
          {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
          {"sec-websocket-protocol", protocol}};
}

}  // namespace liqo::test
