#include "objects.hpp"

#include <array>

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

bool is_empty(const json::value& value) {
  return value.is_null() || value == json::value("") || value == json::value(0) || value == json::value(false) ||
         value == json::value(json::array()) || value == json::value(json::object());
}

/// As Go's `omitempty` does. The labels of a selector are no fields.
void leave_out_empty(json::value& value) {
  if (json::array* list = value.if_array())
    for (json::value& entry : *list) leave_out_empty(entry);
  json::object* fields = value.if_object();
  if (!fields) return;
  json::object kept;
  for (auto& [key, field] : *fields) {
    if (key != "selector") leave_out_empty(field);
    if (!is_empty(field)) kept[key] = std::move(field);
  }
  *fields = std::move(kept);
}

void set_default(json::object& fields, std::string_view key, json::value value) {
  if (!fields.contains(key)) fields[key] = std::move(value);
}

void store_service(json::object& spec, bool has_load_balancer_node_ports) {
  set_default(spec, "type", "ClusterIP");
  set_default(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"] == "ClientIP")
    set_default(spec, "sessionAffinityConfig", {{"clientIP", {{"timeoutSeconds", 10800}}}});
  const std::string type(kube::string_at(spec, {"type"}));
  const bool is_outside = type == "NodePort" || type == "LoadBalancer";
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", has_load_balancer_node_ports);
  if (is_outside) set_default(spec, "externalTrafficPolicy", "Cluster");
  if (spec.contains("ports")) {
    int allocated = 30100;
    for (json::value& each : spec["ports"].as_array()) {
      json::object& port = each.as_object();
      set_default(port, "protocol", "TCP");
      set_default(port, "targetPort", port["port"]);
      if (is_outside && has_load_balancer_node_ports) set_default(port, "nodePort", ++allocated);
    }
  }
  if (type == "ExternalName") return;
  set_default(spec, "internalTrafficPolicy", "Cluster");
  set_default(spec, "clusterIP", "10.96.7.7");
  set_default(spec, "clusterIPs", json::array{spec["clusterIP"]});
  set_default(spec, "ipFamilies", {"IPv4"});
  set_default(spec, "ipFamilyPolicy", "SingleStack");
  if (type == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local") spec["healthCheckNodePort"] = 30999;
}

}  // namespace

std::string HomeOfTests::cluster_of(std::string_view node) const {
  if (node == "virtual-here") return "remote-cluster";
  return node == "virtual-elsewhere" ? "third-cluster" : "";
}

std::optional<core::IpAddress> HomeOfTests::outward(std::string_view, const core::IpAddress& address) const {
  if (core::Cidr::parse("10.200.0.0/16")->contains(address) || address.v6) return address;
  if (address.text() == "192.0.2.9") return core::IpAddress::parse("10.70.0.1");
  return address.text() == "10.62.9.9" ? core::IpAddress::parse("10.70.0.5") : std::nullopt;
}

std::optional<kube::Object> HomeOfTests::service(std::string_view ns, std::string_view name) const {
  const auto found = services.find(name);
  if (found == services.end()) return std::nullopt;
  kube::Object service = kube::Object::make(kube::resources::services, {std::string(ns), std::string(name)});
  if (!found->second.empty()) service.set_annotation(found->second, "true");
  return service;
}

core::ForgingContext context(std::string local) {
  static const HomeOfTests home;
  core::ForgingContext ctx;
  ctx.endpoints = &home;
  ctx.clusters = {.local = std::move(local), .remote = "remote-cluster"};
  return ctx;
}

kube::Object parse(std::string_view text) {
  auto parsed = kube::Object::parse(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}

json::value parse_value(std::string_view text) {
  auto parsed = kube::parse_json(text);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}

kube::Object as_stored(kube::Object applied) {
  const bool asks_for_no_node_ports = !kube::bool_at(applied.tree(), {"spec", "allocateLoadBalancerNodePorts"}, true);
  if (applied.tree().contains("spec")) {
    json::value spec = std::move(applied.tree()["spec"]);
    leave_out_empty(spec);
    applied.tree()["spec"] = std::move(spec);
  }
  if (applied.kind() == "Service") store_service(applied.mutable_spec(), !asks_for_no_node_ports);
  if (applied.kind() == "Ingress") set_default(applied.mutable_spec(), "ingressClassName", "default-there");
  if (applied.kind() == "Service" || applied.kind() == "Ingress")
    applied.tree()["status"] = {{"loadBalancer", json::object()}};
  if (applied.kind() == "Secret") set_default(applied.tree(), "type", "Opaque");
  json::object& metadata = applied.mutable_metadata();
  metadata["uid"] = "r1";
  metadata["resourceVersion"] = "71";
  metadata["creationTimestamp"] = "2026-11-21T10:00:00Z";
  return applied;
}

std::string name_of(const ReflectionPlan& plan) {
  constexpr std::array names = {"Keep", "Refuse", "Remove", "Apply", "Trim"};
  return names.at(plan.index());
}

ReflectionPlan Reflection::plan(const kube::Object* local, const kube::Object* remote) const {
  return plan_reflection({.kind = kind, .policy = policy, .ctx = ctx}, local, remote, "shop-r");
}

kube::Object Reflection::applied(const kube::Object& local) const {
  const ReflectionPlan made = plan(&local, nullptr);
  REQUIRE(std::holds_alternative<reflection_action::Apply>(made));
  return std::get<reflection_action::Apply>(made).desired;
}

std::string Reflection::change(const kube::Object& first, const kube::Object& second) const {
  const kube::Object there = copy(first);
  return name_of(plan(&second, &there));
}

}  // namespace liqo::core::reflection
