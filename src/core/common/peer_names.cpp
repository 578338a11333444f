#include "core/common/peer_names.hpp"

#include "core/common/digest.hpp"
#include "core/common/names.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_namespace = 63;
constexpr std::size_t user_digits = 12;

std::string joined(std::string_view head, std::string_view tail) { return std::string(head) + std::string(tail); }

}  // namespace

bool is_cluster_id(std::string_view text) {
  return text.size() <= max_namespace - tenant_namespace_prefix.size() && is_dns_label(text);
}

std::string tenant_namespace_name(std::string_view peer) { return joined(tenant_namespace_prefix, peer); }

std::string slice_user(std::string_view slice, std::string_view consumer) {
  return joined(slice, user_suffix(consumer));
}

std::string user_suffix(std::string_view consumer) { return "-" + sha256_hex(consumer).substr(0, user_digits); }

bool is_user_of_another(std::string_view user, std::string_view consumer) {
  const std::string own = user_suffix(consumer);
  if (user.size() < own.size() || user.ends_with(own)) return false;
  const std::string_view suffix = user.substr(user.size() - own.size());
  return suffix.front() == '-' && suffix.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

std::string control_plane_identity_name(std::string_view provider) { return joined("controlplane-", provider); }

std::string slice_identity_name(std::string_view slice) { return joined("resourceslice-", slice); }

std::string kubeconfig_secret_name(std::string_view identity) { return joined("kubeconfig-", identity); }

std::string certificate_secret_name(std::string_view slice) {
  return slice.empty() ? "liqo-remote-certificate" : joined("liqo-remote-certificate-", slice);
}

std::string role_binding_name(std::string_view role) { return joined("liqo-binding-", role); }

std::string cluster_role_binding_name(std::string_view role, std::string_view consumer) {
  return role_binding_name(role) + "-" + std::string(consumer);
}

}  // namespace liqo::core
