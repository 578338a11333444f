#include "liqo/webhook/quota_lookup.hpp"

#include "liqo/api/kinds.hpp"
#include "liqo/core/admission/shadow_pod.hpp"

namespace liqo::webhook {

using core::admission::Answer;
using core::admission::Operation;

QuotaLookup::QuotaLookup(kube::InformerSet& home) : quotas_(home.acquire({.resource = api::kinds::quotas})) {}

std::string QuotaLookup::waiting_for() const { return quotas_->has_synced() ? "" : "Quotas are not known yet"; }

asio::awaitable<Answer> QuotaLookup::decide(GateQuestion question) {
  if (question.request.operation != Operation::create) co_return Answer::allow();
  if (!quotas_->has_synced()) co_return Answer::unavailable("the quotas of this cluster are not known yet; try again");
  for (const kube::ObjectKey& key : quotas_->store().keys()) {
    const auto quota = quotas_->find(key);
    if (!quota || core::admission::escape_user(kube::string_at(quota->spec(), {"user"})) != question.user) continue;
    if (!kube::bool_at(quota->spec(), {"cordoned"})) co_return Answer::allow();
    co_return Answer::deny("quota " + key.text() + " is cordoned: this cluster takes no new pods of user \"" +
                           question.user + "\"");
  }
  co_return Answer::deny("there is no quota for user \"" + question.user + "\": this cluster has granted it nothing");
}

}  // namespace liqo::webhook
