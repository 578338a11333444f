#include "core/addresses/network_configuration.hpp"

#include "kube/k8s/condition.hpp"

namespace liqo::core {
namespace {

/// Whether the network module has mapped every range of the Configuration, as of its present generation.
bool is_configured(const kube::Object& configuration) {
  const kube::json::object* condition = kube::find_condition(configuration.status(), "NetworkCIDRsConfigured");
  return condition && kube::string_at(*condition, {"status"}) == "True" &&
         kube::int_at(*condition, {"observedGeneration"}, configuration.generation()) == configuration.generation();
}

std::vector<std::string> texts(const kube::json::object& part, std::string_view use) {
  return kube::strings_in(kube::array_at(part, {"remote", "cidr", use}));
}

}  // namespace

kube::Result<IpMapping> read_network_mapping(std::span<const kube::Object> configurations) {
  IpMapping mapping;
  if (configurations.empty()) return mapping;
  const std::string name = "the network Configuration " + configurations.front().key().text();
  if (configurations.size() > 1)
    return kube::fail(kube::Errc::invalid_input, "there are several network Configurations, " + name + " among them");
  if (!is_configured(configurations.front()))
    return kube::fail(kube::Errc::missing, name + " has no ranges yet (NetworkCIDRsConfigured is not True)");
  for (const std::string_view use : {"pod", "external"})
    KUBE_TRYV(mapping.add(texts(configurations.front().spec(), use), texts(configurations.front().status(), use)),
              name);
  return mapping;
}

bool is_in_range_of_peer(std::span<const kube::Object> configurations, std::string_view address) {
  const auto parsed = IpAddress::parse(address);
  if (!parsed) return false;
  for (const kube::Object& configuration : configurations)
    for (const std::string_view use : {"pod", "external"})
      for (const std::string& text : texts(configuration.spec(), use))
        if (const auto range = Cidr::parse(text); range && range->contains(*parsed)) return true;
  return false;
}

}  // namespace liqo::core
