#include "kube/k8s/resource.hpp"

namespace kube {

std::string percent_encode(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

std::string Resource::api_version() const {
  if (group.empty()) return std::string(version);
  return std::string(group) + "/" + std::string(version);
}

std::string Resource::path(std::string_view ns) const {
  std::string out = group.empty() ? "/api/" : "/apis/";
  if (!group.empty()) out.append(group).append("/");
  out.append(version);
  if (namespaced && !ns.empty()) out.append("/namespaces/").append(percent_encode(ns));
  return out.append("/").append(plural);
}

std::string Resource::path(std::string_view ns, std::string_view name) const {
  return path(ns).append("/").append(percent_encode(name));
}

}  // namespace kube
