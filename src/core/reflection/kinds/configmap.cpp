// How ConfigMaps are reflected.
#include <array>

#include "core/common/names.hpp"
#include "core/offloading/trust_bundles.hpp"
#include "core/reflection/forge.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::reflection {
namespace {

constexpr std::array<std::string_view, 3> fields = {"data", "binaryData", "immutable"};
constexpr std::span maps = std::span(fields).first<2>();

/// Kubernetes puts a root CA of this name into every namespace of both clusters, so the copy has its origin as suffix.
/// A local ConfigMap with the name of that copy is not reflected, nor is one with the name of those that bring trust
/// bundles.
std::string remote_name(std::string_view local, const core::ForgingContext& ctx) {
  std::string root_ca = core::remote_root_ca_name(ctx.clusters.local);
  if (local == api::root_ca_name) return root_ca;
  return local == root_ca || core::is_trust_copy_name(local) ? std::string() : std::string(local);
}

std::string local_name(std::string_view remote, const core::ForgingContext& ctx) {
  if (remote == api::root_ca_name || core::is_trust_copy_name(remote)) return {};  // the former is the provider's own
  return std::string(remote == core::remote_root_ca_name(ctx.clusters.local) ? api::root_ca_name : remote);
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy = forge_copy(kube::resources::config_maps, local,
                                 {std::string(remote_namespace), remote_name(local.name(), ctx)}, ctx);
  copy_fields(local.tree(), copy.tree(), fields);
  return copy;
}

}  // namespace

extern const ReflectedKind configmap{
    .name = "ConfigMap",
    .plural = "ConfigMaps",
    .resource = kube::resources::config_maps,
    .remote_name = remote_name,
    .local_name = local_name,
    .is_always_reflected = [](std::string_view name) { return name == api::root_ca_name; },
    .forge = forge,
    .compare = [](const kube::Object& live, const kube::Object& wanted) { return compare_data(live, wanted, maps); },
    .surplus = [](const kube::Object& live, const kube::Object& wanted) { return surplus_data(live, wanted, maps); },
};

}  // namespace liqo::core::reflection
