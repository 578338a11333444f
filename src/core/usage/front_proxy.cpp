#include "core/usage/front_proxy.hpp"

#include <algorithm>
#include <optional>

#include "kube/base/text.hpp"

namespace liqo::core {
namespace {

/// A JSON list of strings, as the ConfigMap has it.
std::optional<std::vector<std::string>> read_list(const kube::Object& map, std::string_view key) {
  const auto document = kube::parse_json(kube::string_at(map.tree(), {"data", key}));
  return document ? kube::read_strings(*document) : std::nullopt;
}

std::vector<std::string> read_headers(const kube::Object& map, std::string_view key) {
  auto names = read_list(map, key).value_or(std::vector<std::string>());
  for (std::string& name : names) name = kube::lower_case(name);
  return names;
}

}  // namespace

FrontProxy read_front_proxy(const kube::Object& map) {
  FrontProxy proxy;
  auto names = read_list(map, "requestheader-allowed-names");
  if (!names) return proxy;
  proxy.ca_pem = kube::string_at(map.tree(), {"data", "requestheader-client-ca-file"});
  proxy.names = std::move(*names);
  proxy.user_headers = read_headers(map, "requestheader-username-headers");
  proxy.group_headers = read_headers(map, "requestheader-group-headers");
  return proxy;
}

bool is_front_proxy(const FrontProxy& proxy, std::string_view common_name) {
  if (proxy.ca_pem.empty()) return false;
  return proxy.names.empty() || std::ranges::find(proxy.names, common_name) != proxy.names.end();
}

kube::admission::User proxied_user(const FrontProxy& proxy,
                                   std::span<const std::pair<std::string, std::string>> headers) {
  kube::admission::User user;
  for (const std::string& wanted : proxy.user_headers)
    for (const auto& [name, value] : headers)
      if (user.name.empty() && name == wanted) user.name = value;
  if (user.name.empty()) return user;
  for (const auto& [name, value] : headers)
    if (std::ranges::find(proxy.group_headers, name) != proxy.group_headers.end()) user.groups.push_back(value);
  return user;
}

}  // namespace liqo::core
