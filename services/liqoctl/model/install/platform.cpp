#include "model/install/platform.hpp"

#include <algorithm>

#include "core/common/ip.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::array_at;
using kube::string_at;

/// The default range of k3s.
constexpr std::string_view usual_of_k3s = "10.42.0.0/16";

/// The value of a flag, "--flag=value" or "--flag value".
std::string value_of(const std::vector<std::string>& arguments, std::string_view flag) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == flag && i + 1 < arguments.size()) return arguments[i + 1];
    if (word.starts_with(flag) && word.substr(flag.size()).starts_with('='))
      return arguments[i].substr(flag.size() + 1);
  }
  return {};
}

/// "10.1.0.0/16,fd00::/48" as a list; empty if a part of it is no range.
json::array ranges_of(std::string_view joined) {
  const auto ranges = liqo::core::parse_ranges(joined);
  json::array out;
  if (ranges)
    for (const liqo::core::Cidr& range : *ranges) out.emplace_back(range.text());
  return out;
}

json::array ranges_of_kubeadm(const std::vector<kube::Object>& managers) {
  for (const kube::Object& pod : managers)
    for (const json::value& container : array_at(pod.spec(), {"containers"}))
      for (const char* part : {"command", "args"})
        if (const std::string told = value_of(kube::strings_in(array_at(container, {part})), "--cluster-cidr");
            !told.empty())
          return ranges_of(told);
  return {};
}

json::array ranges_of_k3s(const std::vector<kube::Object>& nodes) {
  for (const kube::Object& node : nodes) {
    if (const std::string told = value_of(arguments_of_k3s(node), "--cluster-cidr"); !told.empty())
      return ranges_of(told);
  }
  return ranges_of(usual_of_k3s);
}

json::array ranges_of_openshift(const std::optional<kube::Object>& network) {
  if (!network) return {};
  const auto cidr_of = [](const json::value& entry) { return string_at(entry, {"cidr"}); };
  return ranges_of(kube::join(array_at(network->spec(), {"clusterNetwork"}) | std::views::transform(cidr_of), ","));
}

}  // namespace

std::vector<std::string> arguments_of_k3s(const kube::Object& node) {
  std::string_view told = node.annotation("k3s.io/node-args");
  if (told.empty()) told = node.annotation("rke2.io/node-args");
  const auto words = kube::parse_json(told.empty() ? "[]" : told);
  return words && words->is_array() ? kube::strings_in(words->get_array()) : std::vector<std::string>();
}

std::string_view to_string(Platform platform) {
  switch (platform) {
    case Platform::any:
      return "";
    case Platform::kubeadm:
      return "kubeadm";
    case Platform::k3s:
      return "k3s";
    case Platform::openshift:
      return "openshift";
  }
  return "";
}

kube::Result<Platform> read_platform(std::string_view name) {
  for (const Platform known : {Platform::kubeadm, Platform::k3s, Platform::openshift})
    if (name == to_string(known)) return known;
  if (name == "kind")
    return kube::fail(kube::Errc::invalid_input, "clusters of kind are set up by kubeadm: liqoctl install kubeadm");
  for (const char* cloud : {"aks", "eks", "gke"})
    if (name == cloud)
      return kube::fail(kube::Errc::invalid_input, "nothing is looked up in clouds: liqoctl install without " +
                                                       std::string(name) + ", and --api-server-url and --pod-cidr as " +
                                                       std::string(name) + " shows them");
  return kube::fail(
      kube::Errc::invalid_input,
      kube::in_quotes(name) + " is none of kubeadm, k3s and openshift: leave it out for any other cluster");
}

json::object platform_values(Platform platform, const PlatformObjects& objects) {
  json::object values;
  if (platform == Platform::any) return values;
  kube::ensure_object(kube::ensure_object(kube::ensure_object(values, "discovery"), "config"),
                      "clusterLabels")["liqo.io/provider"] = to_string(platform);
  json::array ranges = platform == Platform::kubeadm ? ranges_of_kubeadm(objects.managers)
                       : platform == Platform::k3s   ? ranges_of_k3s(objects.nodes)
                                                     : ranges_of_openshift(objects.network);
  if (!ranges.empty()) kube::ensure_object(values, "ipam")["podCIDRs"] = std::move(ranges);
  if (platform == Platform::openshift) kube::ensure_object(values, "openshiftConfig")["enabled"] = true;
  return values;
}

}  // namespace liqoctl::model
