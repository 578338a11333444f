#include "core/usage/kubelet_token.hpp"

#include <algorithm>

#include "kube/k8s/object.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;

constexpr std::chrono::seconds wanted_lifetime = std::chrono::hours(1);
/// With an answer that names less it would be asked for without end.
constexpr std::chrono::seconds least_lifetime = std::chrono::minutes(3);

}  // namespace

json::object forge_kubelet_token_request() {
  // `audiences` is required, and an empty list asks for the API server's own.
  return {{"apiVersion", "authentication.k8s.io/v1"},
          {"kind", "TokenRequest"},
          {"spec", json::object{{"audiences", json::array()}, {"expirationSeconds", wanted_lifetime.count()}}}};
}

kube::Result<KubeletToken> read_kubelet_token(const json::value& answer) {
  const std::string_view text = kube::string_at(answer, {"status", "token"});
  if (text.empty()) return kube::fail(kube::Errc::parse, "the answer to a token request has no token");
  const std::chrono::seconds lifetime(kube::int_at(answer, {"spec", "expirationSeconds"}, wanted_lifetime.count()));
  return KubeletToken{.text = std::string(text), .lifetime = std::clamp(lifetime, least_lifetime, wanted_lifetime)};
}

std::string no_kubelet_token(std::string_view ns, const kube::Failure& failure) {
  const std::string account = std::string(ns) + "/" + std::string(api::metric_agent_account);
  std::string sentence = "liqod gets no token of ServiceAccount " + account + ", and shows kubelets no other: ";
  if (failure.is_not_found())
    return sentence + "it is not there; upgrade the installation with the chart of this version";
  if (failure.is_forbidden())
    return sentence + "liqod may not ask for one; upgrade the installation with the chart of this version";
  return sentence + failure.text();
}

}  // namespace liqo::core
