// Reads requests to upgrade from HTTP to another protocol, and makes the answers. Pure.
// Tested by test/unit/kubelet/exec_server_test.cpp.
// Tested by test/unit/kubelet/port_forward_server_test.cpp.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/net/http/http_server.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

/// Why there is no upgrade; the `headers` of the answer list the supported protocols.
struct UpgradeRefusal {
  Refusal refusal;
  kube::net::ServerResponse::Headers headers;
};
std::unexpected<UpgradeRefusal> refuse_upgrade(int status, std::string sentence,
                                               kube::net::ServerResponse::Headers headers = {});
/// The refusal 403: no offered protocol is among `supported`.
std::unexpected<UpgradeRefusal> refuse_protocols(std::span<const std::string_view> supported);

/// The values of all lines of a header.
std::vector<std::string> header_lines(const kube::net::ServerRequest& request, std::string_view name);

/// The header `upgrade` in lower case. Refusals: 400 if the request does not ask for one.
std::expected<std::string, UpgradeRefusal> wanted_upgrade(const kube::net::ServerRequest& request);

/// An upgrade to SPDY/3.1: the headers of our 101, and the protocol that was chosen.
struct SpdyUpgrade {
  kube::net::ServerResponse::Headers headers;
  std::string protocol;
};
/// Chooses the first protocol of the client that is `supported`. Refusals: 400 if the client names none, 403 if none is
/// common.
std::expected<SpdyUpgrade, UpgradeRefusal> read_spdy_upgrade(const kube::net::ServerRequest& request,
                                                             std::span<const std::string_view> supported);

}  // namespace liqo::kubelet
