#include "kubelet/upgrade.hpp"

#include <algorithm>

#include "kube/base/text.hpp"
#include "kube/wire/remote_command.hpp"

namespace liqo::kubelet {
std::unexpected<UpgradeRefusal> refuse_upgrade(int status, std::string sentence,
                                               kube::net::ServerResponse::Headers headers) {
  return std::unexpected(UpgradeRefusal{{status, std::move(sentence)}, std::move(headers)});
}

std::unexpected<UpgradeRefusal> refuse_protocols(std::span<const std::string_view> supported) {
  kube::net::ServerResponse::Headers headers;
  for (const std::string_view name : supported) headers.emplace_back("x-accepted-stream-protocol-versions", name);
  return refuse_upgrade(403, "unable to upgrade: none of the offered protocols is supported", std::move(headers));
}

std::vector<std::string> header_lines(const kube::net::ServerRequest& request, std::string_view name) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : request.headers) {
    if (key == name) lines.push_back(value);
  }
  return lines;
}

std::expected<std::string, UpgradeRefusal> wanted_upgrade(const kube::net::ServerRequest& request) {
  if (!kube::lower_case(request.header("connection")).contains("upgrade")) {
    return refuse_upgrade(400, "unable to upgrade: the request has no header Connection: Upgrade");
  }
  return kube::lower_case(request.header("upgrade"));
}

std::expected<SpdyUpgrade, UpgradeRefusal> read_spdy_upgrade(const kube::net::ServerRequest& request,
                                                             std::span<const std::string_view> supported) {
  using kube::wire::Negotiation;
  const auto offered = header_lines(request, "x-stream-protocol-version");
  const Negotiation negotiation = kube::wire::negotiate(offered, supported);
  if (negotiation.outcome == Negotiation::Outcome::nothing_offered) {
    return refuse_upgrade(400, "unable to upgrade: the header X-Stream-Protocol-Version names no protocol");
  }
  if (negotiation.outcome == Negotiation::Outcome::nothing_common) return refuse_protocols(supported);
  SpdyUpgrade upgrade{{}, negotiation.protocol};
  upgrade.headers.emplace_back("upgrade", "SPDY/3.1");
  upgrade.headers.emplace_back("x-stream-protocol-version", negotiation.protocol);
  return upgrade;
}

}  // namespace liqo::kubelet
