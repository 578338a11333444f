// An index of Quotas by the user whose pods they bound.
#pragma once

#include "core/quota/quota_user.hpp"
#include "kube/runtime/informer.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::quota {

/// Name of the index; its values are users in the form of the label `liqo.io/creator-user`.
inline constexpr std::string_view quotas_by_user = "user";

/// Adds the index to an informer of Quotas, before that runs.
inline void index_quotas_by_user(kube::Informer& quotas) {
  quotas.add_index(std::string(quotas_by_user), [](const kube::Object& quota, std::vector<std::string>& values) {
    values.push_back(core::escape_user(api::Quota(quota).user()));
  });
}

}  // namespace liqo::quota
