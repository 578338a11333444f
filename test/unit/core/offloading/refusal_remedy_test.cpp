// The remedies for refusals of a Pod by Kubernetes' own admission at the provider.
#include "core/offloading/refusal_remedy.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("what Kubernetes refuses is told with what to do about it") {
  const auto told = [](std::string_view words) { return refusal_with_remedy("milan", words); };
  const std::string begin = "cluster milan refuses the pod: ";
  const std::string level =
      R"(pods "web" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "data"))";
  CHECK(told(level) ==
        begin + level +
            "; let the pod ask for less, or ask the administrator of cluster milan for another level (annotation "
            "offloading.liqo.io/twin-pod-security of the tenant namespace there)");
  const std::string quota = "pods \"web\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2";
  CHECK(told(quota) == begin + quota +
                           "; it is tried again: use less there, or ask the administrator of cluster milan for more in "
                           "this ResourceQuota");
  const std::string bounds = "pods \"web\" is forbidden: exceeded quota: liqo-twin-pods, requested: pods=1";
  CHECK(told(bounds) == begin + bounds);
  const std::string range = "pods \"web\" is forbidden: maximum cpu usage per Container is 100m, but limit is 200m";
  CHECK(told(range) == begin + range +
                           "; change what the pod requests, or ask the administrator of cluster milan to change this "
                           "LimitRange");
  const std::string webhook = "Internal error occurred: failed calling webhook \"policy.example\": refused";
  CHECK(told(webhook) == begin + webhook + "; ask the administrator of cluster milan why this webhook does not answer");
  CHECK(told("team label is missing") == begin + "team label is missing");
}

TEST_CASE("a remedy has room behind words of any length") {
  const std::string words = "violates PodSecurity \"restricted:latest\": " + std::string(100'000, 'x');
  const std::string told = refusal_with_remedy("milan", words);
  CHECK(told.size() <= 1000);
  CHECK(told.ends_with("of the tenant namespace there)"));
}

}  // namespace liqo::core
