#include "kubelet/node_configuration.hpp"

#include "kube/base/quantity.hpp"

namespace liqo::kubelet {

namespace json = kube::json;

json::object node_configuration(const kube::Object& node) {
  json::object configuration{
      {"kind", "KubeletConfiguration"},
      {"apiVersion", "kubelet.config.k8s.io/v1beta1"},
      {"enableServer", true},
      {"port", kube::int_at(node.tree(), {"status", "daemonEndpoints", "kubeletEndpoint", "Port"})},
      {"readOnlyPort", 0},
      {"serverTLSBootstrap", true},
      {"authentication",
       json::object{{"anonymous", json::object{{"enabled", false}}}, {"webhook", json::object{{"enabled", true}}}}},
      {"authorization", json::object{{"mode", "Webhook"}}},
      {"enableDebuggingHandlers", true},
      {"providerID", kube::string_at(node.spec(), {"providerID"})},
  };
  if (const auto* pods = kube::find(node.status(), {"allocatable", "pods"}))
    if (const auto amount = kube::Quantity::from_json(*pods)) configuration["maxPods"] = amount->value();
  return {{"kubeletconfig", std::move(configuration)}};
}

}  // namespace liqo::kubelet
