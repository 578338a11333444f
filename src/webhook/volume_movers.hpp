// Who may move volumes, so that admission lets the pods be by which they do.
// Tested by test/unit/webhook/reviews_test.cpp.
#pragma once

#include "kube/client/api.hpp"
#include "kube/k8s/admission.hpp"

namespace liqo::webhook {

/// Whether the API server is asked about the user: not where the name is longer than 1 KiB, or the groups than 64 KiB
/// together. A review names at most 1,000 groups.
bool is_askable(const kube::admission::User& user);

/// Whether the user may change every PersistentVolume, as `liqoctl move volume` does (a SubjectAccessReview). Who may
/// do that decides already where pods with claims run. Failures: those of the Api.
boost::asio::awaitable<kube::Result<bool>> may_move_volumes(kube::Api& api, kube::admission::User user);

}  // namespace liqo::webhook
