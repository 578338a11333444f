#include "core/peering/checked_requests.hpp"

#include "core/common/digest.hpp"

namespace liqo::core {

kube::Result<void> CheckedRequests::check(std::string_view pem, const CertificateName& name, const PublicKey* key) {
  // Each part with its length, so that no two questions have one text.
  std::string asked;
  for (const std::string_view part : {pem, std::string_view(name.common_name), std::string_view(name.organization),
                                      key ? std::string_view(key->der()) : std::string_view()})
    asked.append(std::to_string(part.size())).append(":").append(part);
  std::string digest = sha256_hex(asked);
  if (const auto known = verdicts_.find(digest); known != verdicts_.end()) return known->second;
  ++reads_;
  kube::Result<void> verdict = check_signing_request(pem, name, key);
  verdicts_.emplace(digest, verdict);
  order_.push_back(std::move(digest));
  if (order_.size() > most_) {
    verdicts_.erase(order_.front());
    order_.pop_front();
  }
  return verdict;
}

}  // namespace liqo::core
