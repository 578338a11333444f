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

/// The samples of all tests, by kind.
auto& all_samples() {
  static std::map<std::string_view, const Samples*> all;
  return all;
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

std::optional<core::IpAddress> HomeOfTests::at_provider(const core::IpAddress& address) const {
  if (core::Cidr::parse("10.107.0.0/16")->contains(address))
    return core::move_into(address, *core::Cidr::parse("10.7.0.0/16"));
  return core::Cidr::parse("10.8.0.0/16")->contains(address) ? std::optional(address) : std::nullopt;
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

void set_default(json::object& fields, std::string_view key, json::value value) {
  if (!fields.contains(key)) fields[key] = std::move(value);
}

Samples::Samples(std::string_view name, std::vector<std::string_view> particular, Store add)
    : kind(name), fields(std::move(particular)), store(add) {
  all_samples().emplace(kind, this);
}

const Samples* samples_of(std::string_view kind) {
  const auto found = all_samples().find(kind);
  return found == all_samples().end() ? nullptr : found->second;
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

kube::Object as_stored(const kube::Object& applied) {
  kube::Object stored = applied;
  if (stored.tree().contains("spec")) {
    json::value spec = std::move(stored.tree()["spec"]);
    leave_out_empty(spec);
    stored.tree()["spec"] = std::move(spec);
  }
  if (const Samples* samples = samples_of(applied.kind()); samples && samples->store) samples->store(applied, stored);
  json::object& metadata = stored.mutable_metadata();
  metadata["uid"] = "r1";
  metadata["resourceVersion"] = "71";
  metadata["creationTimestamp"] = "2026-11-21T10:00:00Z";
  return stored;
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
