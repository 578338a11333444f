// Secrets with tokens of service accounts that somebody has made by hand, and the pods that name them. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The type of such a Secret.
inline constexpr std::string_view service_account_token_type = "kubernetes.io/service-account-token";

/// The names of the Secrets without which the pod does not start: those of its volumes and of the environment of its
/// containers that are not optional. At most 1,000.
std::set<std::string> needed_secrets(const kube::Object& pod);

/// Whether such a Secret may be copied for the pods that name it; `secret` needs its metadata alone.
bool may_copy_token(const kube::Object& secret);

/// Why a pod that needs this Secret is not sent, a clause with what to do.
std::string describe_token_secret(std::string_view secret);

}  // namespace liqo::core
