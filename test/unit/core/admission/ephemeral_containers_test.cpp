#include "core/admission/ephemeral_containers.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace liqo::core::admission;
using liqo::core::PodPolicy;
using liqo::core::read_pod_policy;
namespace json = kube::json;

namespace {

json::object pod(std::string_view list) {
  return json::
      parse(R"({"containers":[{"name":"main"}],"initContainers":[{"name":"first"}],"volumes":[{"name":"data"}],"ephemeralContainers":)" +
            std::string(list) + "}")
          .as_object();
}

}  // namespace

TEST_CASE("ephemeral containers can be added, with names of their own, up to a number") {
  const struct {
    std::string_view before, after, words;
  } cases[] = {
      {"[]", "[]", ""},
      {"[]", R"([{"name":"a"}])", ""},
      {R"([{"name":"a"}])", R"([{"name":"a"},{"name":"b"},{"name":"c"}])", ""},
      {R"([{"name":"a"}])", "[]", "ephemeralContainers[0] cannot be changed or removed"},
      {R"([{"name":"a"}])", "null", "ephemeralContainers[0] cannot be changed or removed"},
      {R"([{"name":"a"}])", R"([{"name":"b"},{"name":"a"}])", "ephemeralContainers[0] cannot be changed"},
      {R"([{"name":"a"},{"name":"b"}])", R"([{"name":"a"},{"name":"b","image":"other"}])",
       "ephemeralContainers[1] cannot be changed"},
      {R"([{"name":"a"}])", R"([{"name":"a"},{"name":"a"}])", "[1].name \"a\" is the name of another container"},
      {"[]", R"([{"name":"main"}])", "[0].name \"main\" is the name of another container"},
      {"[]", R"([{"name":"first"}])", "[0].name \"first\" is the name of another container"},
      {"[]", R"([{"image":"i"}])", "[0].name is missing"},
      {"[]", R"([1])", "[0].name is missing"},
      {"[]", R"([{"name":"A_B"}])", "[0].name \"A_B\" is no name of a container"},
      {"[]", R"([{"name":"a-"}])", "is no name of a container"},
      {"[]", R"([{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}])",
       "is no name of a container"},
      {"[]", R"([{"name":"a","targetContainerName":"main","volumeMounts":[{"name":"data"}]}])", ""},
      {"[]", R"([{"name":"a","targetContainerName":"first","volumeDevices":[{"name":"data"}]}])", ""},
      {"[]", R"([{"name":"a","targetContainerName":"istio-proxy"}])",
       "targetContainerName \"istio-proxy\" is no container of the pod"},
      {"[]", R"([{"name":"a","volumeMounts":[{"name":"data"},{"name":"injected"}]}])",
       "volumeMounts \"injected\" is no volume of the pod"},
      {"[]", R"([{"name":"a","volumeDevices":[{"name":"injected"}]}])", "volumeDevices \"injected\" is no volume"},
      {"[]", R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}])",
       "has 4 entries, and pods of the tenant may have 3"},
      // What is stored was let in by another policy.
      {R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}])",
       R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}])", ""},
      {R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}])",
       R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"}])", "may have 3"},
      {R"([{"name":"main"}])", R"([{"name":"main"},{"name":"a"}])", ""},
  };
  const PodPolicy policy = read_pod_policy(R"({"maxEphemeralContainers": 3})").value();
  for (const auto& each : cases) {
    CAPTURE(each.before);
    CAPTURE(each.after);
    const std::string words = refuse_ephemeral(pod(each.before), pod(each.after), policy);
    CHECK(words.empty() == each.words.empty());
    CHECK(words.contains(each.words));
  }
}

TEST_CASE("a policy may forbid them, and the usual one lets 32 be added") {
  const PodPolicy none = read_pod_policy(R"({"maxEphemeralContainers": 0})").value();
  CHECK(refuse_ephemeral({}, pod(R"([{"name":"a"}])"), none) ==
        "pods of the tenant may have no ephemeral containers (maxEphemeralContainers in the policy)");
  CHECK(refuse_ephemeral({}, pod("[]"), none).empty());
  json::array many;
  for (int i = 0; i < 32; ++i) many.push_back(json::object{{"name", "debugger-" + std::to_string(i)}});
  CHECK(refuse_ephemeral({}, pod(json::serialize(many)), {}).empty());
  many.push_back(json::object{{"name", "more"}});
  CHECK(refuse_ephemeral({}, pod(json::serialize(many)), {}).contains("may have 32"));
}
