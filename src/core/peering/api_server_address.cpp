#include "core/peering/api_server_address.hpp"

#include <algorithm>

#include "kube/base/printable.hpp"

namespace liqo::core {

std::optional<std::string> control_plane_address(std::span<const kube::Object> nodes) {
  for (const char* type : {"ExternalDNS", "ExternalIP", "InternalDNS", "InternalIP", "Hostname"})
    for (const kube::Object& node : nodes)
      for (const kube::json::value& entry : kube::array_at(node.status(), {"addresses"})) {
        const std::string_view address = kube::string_at(entry, {"address"});
        if (kube::string_at(entry, {"type"}) != type || address.empty()) continue;
        return address.contains(':') ? "[" + std::string(address) + "]" : std::string(address);
      }
  return std::nullopt;
}

kube::Result<std::string> api_server_url(std::string_view address) {
  constexpr std::string_view scheme = "https://";
  const std::size_t mark = address.find("://");
  const std::string url =
      mark == std::string_view::npos ? std::string(scheme) + std::string(address) : std::string(address);
  const bool blank =
      std::ranges::any_of(url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (!url.starts_with(scheme) || url.size() == scheme.size() || blank)
    return kube::fail(
        kube::Errc::invalid_input,
        "the address of an API server is a host, host:port or https URL, not " + kube::in_quotes(url, 128));
  return url;
}

}  // namespace liqo::core
