#include "core/offloading/refusal_remedy.hpp"

#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

/// The most bytes of words that have a remedy: an Event holds 1,000 bytes.
constexpr std::size_t max_words = 700;

}  // namespace

std::string refusal_remedy(std::string_view words, const std::string& provider) {
  const std::string administrator = "the administrator of cluster " + provider;
  if (words.contains("violates PodSecurity \""))
    return "; let the pod ask for less, or ask " + administrator + " for another level (annotation " +
           std::string(api::annotations::twin_pod_security) + " of the tenant namespace there)";
  if (words.contains("failed calling webhook ")) return "; ask " + administrator + " why this webhook does not answer";
  // The quotas of Liqo are bounds of what was granted.
  if (words.contains("exceeded quota: ") && !words.contains("exceeded quota: liqo-"))
    return "; it is tried again: use less there, or ask " + administrator + " for more in this ResourceQuota";
  if (words.contains(" usage per Container is ") || words.contains(" usage per Pod is "))
    return "; change what the pod requests, or ask " + administrator + " to change this LimitRange";
  return {};
}

std::string refusal_with_remedy(const std::string& provider, std::string_view words) {
  const std::string remedy = refusal_remedy(words, provider);
  if (remedy.empty()) return refusal_message(provider, words);
  return refusal_message(provider, kube::one_line(words, max_words)) + remedy;
}

}  // namespace liqo::core
