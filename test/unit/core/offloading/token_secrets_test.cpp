// Secrets with tokens that somebody has made by hand.
#include "core/offloading/token_secrets.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("a pod needs the Secrets that it mounts and reads, unless they are optional") {
  const kube::Object pod = local_pod("{}", R"({"volumes": [{"name": "a", "secret": {"secretName": "mounted"}},
      {"name": "b", "secret": {"secretName": "maybe", "optional": true}}, {"name": "c", "projected": {"sources": [
        {"secret": {"name": "projected"}}, {"secret": {"name": "perhaps", "optional": true}}, 1]}}, null],
    "imagePullSecrets": [{"name": "pull"}], "initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "all"}}]}],
    "containers": [{"name": "c", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}},
      {"name": "B", "valueFrom": {"secretKeyRef": {"name": "key2", "key": "k", "optional": true}}}, null]}]})");
  CHECK(needed_secrets(pod) == std::set<std::string>{"all", "key", "mounted", "projected"});
  CHECK(needed_secrets(local_pod()).empty());
}

TEST_CASE("a token is copied only as annotated") {
  const auto may = [](std::string_view annotations) {
    return may_copy_token(parse(R"({"metadata": {"name": "t", "annotations": )" + std::string(annotations) + "}}"));
  };
  CHECK_FALSE(may("{}"));
  CHECK(may(R"({"liqo.io/allow-reflection": "true"})"));
  CHECK_FALSE(may(R"({"liqo.io/allow-reflection": "False"})"));
  CHECK_FALSE(may(R"({"liqo.io/allow-reflection": "true", "liqo.io/skip-reflection": ""})"));
}

}  // namespace liqo::core
