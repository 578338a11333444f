// Which Secrets pods, Ingresses and service accounts refer to.
#include "core/reflection/references.hpp"

#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

using Names = std::vector<std::string>;

Names of_pod(std::string_view spec) {
  return secrets_of_pod(parse(R"({"metadata": {"name": "web"}, "spec": )" + std::string(spec) + "}"));
}

}  // namespace

TEST_CASE("the Secrets that a pod refers to") {
  struct Case {
    const char *title, *spec;
    Names names;
  };
  for (
      const Case& c : {
          Case{"none", R"({"containers": [{"name": "main", "env": [{"name": "A", "value": "b"}]}]})", {}},
          Case{"images", R"({"imagePullSecrets": [{"name": "pull"}, {}]})", {"pull"}},
          Case{"a variable",
               R"({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "a", "key": "k", "optional": true}}},
                    {"valueFrom": {"configMapKeyRef": {"name": "no"}}}]}]})",
               {"a"}},
          Case{"all variables",
               R"({"containers": [{"envFrom": [{"secretRef": {"name": "a"}}, {"configMapRef": {"name": "no"}}]}]})",
               {"a"}},
          Case{"containers of each kind, each Secret once",
               R"({"initContainers": [{"envFrom": [{"secretRef": {"name": "z"}}, {"secretRef": {"name": "m"}}]}],
                    "containers": [{"envFrom": [{"secretRef": {"name": "m"}}]}],
                    "ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "a"}}]}]})",
               {"a", "m", "z"}},
          Case{"a volume", R"({"volumes": [{"name": "v", "secret": {"secretName": "a"}}, {"emptyDir": {}}]})", {"a"}},
          Case{"a projected volume",
               R"({"volumes": [{"projected": {"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "no"}},
                    {"serviceAccountToken": {"path": "p"}}]}}]})",
               {"a"}},
          Case{
              "volumes of other kinds",
              R"({"volumes": [{"csi": {"nodePublishSecretRef": {"name": "csi"}}}, {"azureFile": {"secretName": "azure"}},
                    {"flexVolume": {"secretRef": {"name": "flex"}}}, {"cephfs": {"secretRef": {"name": "ceph"}}},
                    {"cinder": {"secretRef": {"name": "cinder"}}}, {"iscsi": {"secretRef": {"name": "iscsi"}}},
                    {"rbd": {"secretRef": {"name": "rbd"}}}, {"scaleIO": {"secretRef": {"name": "scale"}}},
                    {"storageos": {"secretRef": {"name": "storageos"}}}]})",
              {"azure", "ceph", "cinder", "csi", "flex", "iscsi", "rbd", "scale", "storageos"}},
          Case{"nothing that can be read",
               R"({"volumes": 3, "containers": [[], {"env": {}}], "imagePullSecrets": ["a"]})",
               {}},
      }) {
    CAPTURE(c.title);
    CHECK(of_pod(c.spec) == c.names);
  }
}

TEST_CASE("the Secrets that Ingresses and service accounts refer to") {
  CHECK(secrets_of_ingress(parse(R"({"metadata": {"name": "web", "annotations": {"example.org/auth-secret": "no"}},
    "spec": {"tls": [{"secretName": "b"}, {"hosts": ["x"]}, {"secretName": "a"}, {"secretName": "b"}]}})")) ==
        Names{"a", "b"});
  CHECK(pull_secrets_of(parse(R"({"metadata": {"name": "default"}, "secrets": [{"name": "no"}],
    "imagePullSecrets": [{"name": "pull"}]})")) == Names{"pull"});
}

TEST_CASE("of one object a bounded number of references is read") {
  std::string secrets;
  for (std::size_t i = 0; i < max_references + 10; ++i)
    secrets += std::string(i ? "," : "") + R"({"name": "s)" + std::to_string(i) + "\"}";
  CHECK(of_pod(R"({"imagePullSecrets": [)" + secrets + "]}").size() == max_references);
}

}  // namespace liqo::core::reflection
