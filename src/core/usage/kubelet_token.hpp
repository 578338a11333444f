// The token by which kubelets know who asks them for metrics: that of a ServiceAccount which may do nothing else.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {

/// A token as it was issued.
struct KubeletToken {
  std::string text;
  std::chrono::seconds lifetime;  ///< from when it was asked for; the server may give less than was asked for
  /// When to ask for the next one, from the same moment on: after two thirds of the lifetime.
  std::chrono::seconds renew_after() const { return lifetime * 2 / 3; }
};

/// The body of the POST to serviceaccounts/<name>/token: for an hour, for the audience of the API server, by which
/// kubelets have callers identified.
kube::json::object forge_kubelet_token_request();

/// Reads the answer. The token counts by its lifetime and not by the time of its end, so that clocks may differ.
/// Errors: Errc::parse.
kube::Result<KubeletToken> read_kubelet_token(const kube::json::value& answer);

/// Why kubelets of this cluster are not asked, in one sentence with the remedy.
std::string no_kubelet_token(std::string_view ns, const kube::Failure& failure);

}  // namespace liqo::core
