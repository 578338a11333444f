#include "core/admission/check_orders.hpp"

#include "core/admission/tenant_rules.hpp"
#include "core/policy/order_table.hpp"

namespace liqo::core::admission {
namespace {

/// Kubernetes takes no longer keys, so two different keys never make the same finding.
constexpr std::size_t max_key = 317;

class Search {
 public:
  Search(TwinKind kind, const PodPolicy& policy, std::size_t max_found)
      : kind_(kind), policy_(policy), max_found_(max_found) {}

  /// Looks at the entries that `had` lacks, or has with another value.
  void look_at(Metadata part, const json::object& entries, const json::object& had) {
    const auto [listed, policy_key] = allowed_keys(kind_, part, policy_);
    for (const auto& [key, value] : entries) {
      if (found.size() >= max_found_) return;
      const json::value* before = had.if_contains(key);
      if ((before && *before == value) || lists_key(listed, key)) continue;
      std::string why = why_refused(kind_, part, key, policy_);
      if (why.empty()) continue;
      const std::string_view what = part == Metadata::labels ? "label " : "annotation ";
      found.push_back({std::string(what) + std::string(std::string_view(key).substr(0, max_key)),
                       std::move(why) + "; the policy key " + std::string(policy_key) + " would allow it"});
    }
  }

  std::vector<Finding> found;

 private:
  TwinKind kind_;
  const PodPolicy& policy_;
  std::size_t max_found_;
};

}  // namespace

std::vector<Finding> find_orders(const Request& request, TwinKind kind, const PodPolicy& policy,
                                 std::size_t max_found) {
  Search search(kind, policy, max_found);
  search.look_at(Metadata::labels, request.object.labels(), request.old_object.labels());
  search.look_at(Metadata::annotations, request.object.annotations(), request.old_object.annotations());
  return std::move(search.found);
}

Answer check_orders(const Request& request, std::string_view consumer, TwinKind kind, const PodPolicy& policy) {
  if (!request.writes_object() || !is_of_consumer(request.user, consumer)) return Answer::allow();
  const std::vector<Finding> found = find_orders(request, kind, policy, max_findings);
  if (found.empty()) return Answer::allow();
  const std::string_view name = kind == TwinKind::secret ? "Secret" : "ConfigMap";
  return Answer::deny(known_as(request, name) + " may not be in this cluster: " + describe(found));
}

}  // namespace liqo::core::admission
