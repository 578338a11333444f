// Finds out which users may move volumes, so that admission leaves the pods alone that they use for it.
// Tested by test/unit/webhook/reviews_test.cpp.
#pragma once

#include "kube/client/api.hpp"
#include "kube/k8s/admission.hpp"

namespace liqo::webhook {

/// Whether the API server can be asked about the user: not if the name is longer than 1 KiB, or all groups together
/// than 64 KiB. A review names at most 1,000 groups.
bool is_askable(const kube::admission::User& user);

/// Whether the user may change every PersistentVolume, as `liqoctl move volume` does (a SubjectAccessReview). A user
/// with that right already decides where pods with claims run. Failures: those of the Api.
boost::asio::awaitable<kube::Result<bool>> may_move_volumes(kube::Api& api, kube::admission::User user);

}  // namespace liqo::webhook
