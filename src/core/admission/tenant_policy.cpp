#include "core/admission/tenant_policy.hpp"

#include <algorithm>

#include "core/common/nearest.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/policy/pod_policy_keys.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core::admission {
namespace {

constexpr std::size_t max_mended = 5, max_mended_key = 63;

/// The types of Service that a policy refuses, readable or not.
std::vector<std::string> refused_types(std::string_view policy) {
  if (policy.size() > max_policy_bytes) return {};
  const auto document = kube::parse_json(policy, 4);
  const json::object* listed = document ? document->if_object() : nullptr;
  const json::value* types = listed ? listed->if_contains("refusedServiceTypes") : nullptr;
  auto names = types ? kube::read_strings(*types) : std::nullopt;
  return names ? std::move(*names) : std::vector<std::string>();
}

/// The first mistake among the types that the policy refuses and the stored one does not.
std::string new_mistaken_type(std::string_view policy, std::string_view stored) {
  const std::vector<std::string> before = refused_types(stored);
  for (const std::string& name : refused_types(policy))
    if (std::string why = why_no_service_type(name); !why.empty() && std::ranges::find(before, name) == before.end())
      return why;
  return {};
}

/// Whether a shell and the flag take the key as it is.
bool is_plain(std::string_view key) {
  const auto is_alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !key.empty() && key.size() <= max_mended_key && is_alphanumeric(key.front()) &&
         std::ranges::all_of(key, [&](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string why_unreadable(std::string_view policy) {
  const auto read = read_pod_policy(policy);
  return read ? "" : kube::printable(kube::cut_text(read.error().text(), max_mistake));
}

std::string mending_flags(std::string_view policy) {
  if (policy.size() > max_policy_bytes) return {};
  const auto document = kube::parse_json(policy, 4);
  const json::object* listed = document ? document->if_object() : nullptr;
  if (!listed) return {};
  std::string flags;
  std::size_t mended = 0;
  for (const auto& [key, value] : *listed) {
    if (read_pod_policy(json::serialize(json::object{{key, value}}))) continue;
    if (!is_plain(key) || ++mended > max_mended) return {};
    flags += (flags.empty() ? "--unset " : " --unset ") + std::string(key);
  }
  return flags;
}

std::string policy_remedy(std::string_view policy, std::string_view consumer) {
  const std::string command = "liqoctl set tenant " + kube::printable(kube::cut_text(consumer, max_mistake));
  if (const std::string flags = mending_flags(policy); !flags.empty()) return command + " " + flags + " mends it";
  return command + " --replace writes it anew; limits that it does not name are gone then";
}

std::string why_no_service_type(std::string_view name) {
  static const std::vector<std::string> known{"LoadBalancer", "NodePort", "ExternalName"};
  if (name == "*" || std::ranges::find(known, name) != known.end()) return {};
  const std::string_view meant = kube::cut_text(name, max_mended_key);
  const auto same = std::ranges::find_if(
      known, [meant](const std::string& one) { return kube::lower_case(one) == kube::lower_case(meant); });
  const std::string near = same == known.end() ? nearest(meant, known) : *same;
  return kube::in_quotes(name, max_mended_key) + " is no type of Service that can be refused" +
         (near.empty() ? ": there are " + kube::join(known, ", ") + ", and * for all of them"
                       : "; did you mean " + near + "?");
}

std::string mistaken_service_type(std::string_view policy) { return new_mistaken_type(policy, ""); }

Answer validate_tenant_namespace(const Request& request) {
  if (!request.writes_object() || !is_tenant_namespace(request.object)) return Answer::allow();
  const std::string_view key = api::annotations::pod_policy;
  // What was written before the namespace had its label was not looked at.
  const std::string_view stored = is_tenant_namespace(request.old_object) ? request.old_object.annotation(key) : "";
  if (request.object.annotation(key) == stored) return Answer::allow();
  const std::string why = why_unreadable(request.object.annotation(key));
  if (why.empty()) {
    const std::string type = new_mistaken_type(request.object.annotation(key), stored);
    if (type.empty()) return Answer::allow();
    return Answer::invalid("the annotation " + std::string(key) + ", refusedServiceTypes: " + type);
  }
  const std::string id = kube::printable(request.object.label(api::labels::remote_cluster_id)),
                    consumer = id.empty() ? "its consumer" : id, named = id.empty() ? "ID" : id;
  // A user who changes another key of a stored policy meets a mistake that is not in the change.
  return Answer::invalid("the annotation " + std::string(key) + " cannot be read: " + why +
                         (why.ends_with('?') ? " " : ". ") + "With it " + consumer + " could create nothing new; " +
                         (why_unreadable(stored).empty()
                              ? "liqoctl set tenant " + named + " writes it key by key."
                              : "nor can the policy be read that is stored: " + policy_remedy(stored, named) + "."));
}

}  // namespace liqo::core::admission
