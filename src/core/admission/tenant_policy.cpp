#include "liqo/core/admission/tenant_policy.hpp"

#include "kube/base/printable.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/pod_policy_keys.hpp"
#include "liqo/core/namespaces/belonging.hpp"
#include "liqo/core/slices/request.hpp"

namespace liqo::core::admission {

std::string why_unreadable(std::string_view policy) {
  const auto read = read_pod_policy(policy);
  return read ? "" : kube::printable(kube::cut_text(read.error().text(), max_mistake));
}

std::string policy_remedy(std::string_view policy, std::string_view consumer) {
  const std::string command = "liqoctl set tenant " + kube::printable(kube::cut_text(consumer, max_mistake));
  if (policy.size() <= max_policy_bytes)
    if (const auto document = kube::parse_json(policy, 4); document && document->is_object())
      return command + " corrects it";
  return command + " --replace writes it anew; limits that it does not name are gone then";
}

Answer validate_tenant_namespace(const Request& request) {
  if (!request.writes_object() || !is_tenant_namespace(request.object)) return Answer::allow();
  const std::string_view key = api::annotations::pod_policy;
  if (request.object.annotation(key) == request.old_object.annotation(key)) return Answer::allow();
  const std::string why = why_unreadable(request.object.annotation(key));
  if (why.empty()) return Answer::allow();
  const std::string id = kube::printable(request.object.label(api::labels::remote_cluster_id)),
                    consumer = id.empty() ? "its consumer" : id;
  return Answer::invalid("the annotation " + std::string(key) + " cannot be read: " + why +
                         (why.ends_with('?') ? " " : ". ") + "With it " + consumer +
                         " could create nothing new; liqoctl set tenant " + (id.empty() ? "ID" : id) +
                         " writes it key by key.");
}

}  // namespace liqo::core::admission
