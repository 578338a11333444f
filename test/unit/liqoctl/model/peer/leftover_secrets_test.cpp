// Copies of the Go version that are not used.
#include <doctest/doctest.h>

#include "model/peer/leftover_secrets.hpp"

namespace {

using namespace liqoctl::model;

kube::Object secret(const std::string& name, const std::string& labels, const std::string& annotations = "") {
  auto object = kube::Object::parse(R"({"kind":"Secret","metadata":{"name":")" + name + R"(","labels":{)" + labels +
                                    R"(},"annotations":{)" + annotations + "}}}");
  REQUIRE(object);
  return *object;
}

TEST_CASE("of the copies that Go made those are left over that nothing refers to and nobody has taken over") {
  const std::string ours = R"("offloading.liqo.io/origin":"rome","offloading.liqo.io/destination":"milan")";
  const std::string theirs = R"("offloading.liqo.io/origin":"turin","offloading.liqo.io/destination":"milan")";
  auto going = secret("going", ours);
  going.mutable_metadata()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const auto found =
      leftover_secrets({secret("left", ours), secret("used", ours), secret("of-turin", theirs), secret("own", ""),
                        going, secret("taken-over", ours, R"("offloading.liqo.io/reflected-digest":"x")"),
                        secret("web-token", ours + R"(,"offloading.liqo.io/service-account-name":"robot")",
                               R"("offloading.liqo.io/service-account-for-pod-name":"web")")},
                       {"used"}, {.local = "rome", .remote = "milan"});
  REQUIRE(found.size() == 1);
  CHECK(found.front().name() == "left");
}

TEST_CASE("pods, what makes pods, Ingresses and ServiceAccounts refer to Secrets, and nothing else does") {
  std::set<std::string> names;
  for (
      const char* text :
      {R"({"kind":"Pod","metadata":{"name":"x"},"spec":{"volumes":[{"secret":{"secretName":"volume"}}],"imagePullSecrets":[{"name":"pull"}]}})",
       R"({"kind":"Pod","metadata":{"name":"y"},"spec":{"ephemeralContainers":[{"envFrom":[{"secretRef":{"name":"debug"}}]}]}})",
       R"({"kind":"Ingress","metadata":{"name":"x","annotations":{"a":"users","b":"shop/authority"}},"spec":{"tls":[{"secretName":"certificate"}]}})",
       R"({"kind":"Deployment","metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"envFrom":[{"secretRef":{"name":"deployment"}}]}]}}}})",
       R"({"kind":"CronJob","metadata":{"name":"x"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"imagePullSecrets":[{"name":"nightly"}]}}}}}})",
       R"({"kind":"ServiceAccount","metadata":{"name":"x"},"imagePullSecrets":[{"name":"registry"}]})",
       R"({"kind":"Other","metadata":{"name":"x"},"spec":{"tls":[{"secretName":"no"}]}})"})
    add_references(*kube::Object::parse(text), names);
  CHECK(names == std::set<std::string>{"authority", "certificate", "debug", "deployment", "nightly", "pull", "registry",
                                       "users", "volume"});
}

}  // namespace
