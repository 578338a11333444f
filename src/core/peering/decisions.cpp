#include "core/peering/decisions.hpp"

#include "liqo/api/tenant.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::string_view prefix = "liqo.io/";
// Settings of an administrator are words and numbers, so longer values are not kept.
constexpr std::size_t max_value = 1'000;

bool is_setting(std::string_view key, const json::value& value) {
  return key.starts_with(prefix) && value.is_string() && value.get_string().size() <= max_value;
}

}  // namespace

std::string remember_decisions(const kube::Object& tenant) {
  json::object kept;
  if (const auto condition = api::Tenant(tenant).condition(); condition != api::TenantCondition::active)
    kept["tenantCondition"] = api::to_string(condition);
  json::object settings;
  for (const auto& [key, value] : tenant.annotations())
    if (is_setting(key, value)) settings[key] = value;
  if (!settings.empty()) kept["annotations"] = std::move(settings);
  return kept.empty() ? "" : json::serialize(kept);
}

void recall_decisions(std::string_view text, kube::Object& tenant) {
  const auto kept = kube::parse_json(text);
  if (!kept) return;
  if (const std::string_view condition = kube::string_at(*kept, {"tenantCondition"}); !condition.empty())
    tenant.mutable_spec()["tenantCondition"] = condition;
  for (const auto& [key, value] : kube::object_at(*kept, {"annotations"}))
    if (is_setting(key, value)) tenant.set_annotation(key, value.get_string());
}

}  // namespace liqo::core
