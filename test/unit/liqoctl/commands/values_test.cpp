// liqoctl get values.
#include <doctest/doctest.h>

#include "../installed_cluster.hpp"
#include "kube/base/base64.hpp"
#include "kube/wire/yaml.hpp"

namespace liqoctl::test {
namespace {

namespace json = kube::json;

/// Notes that the installation was given these values.
void record(TestCluster& cluster, const json::object& values) {
  cluster.change(
      resources::secrets, given_values,
      json::serialize(json::object{{"data", json::object{{"values", kube::encode_base64(json::serialize(values))}}}}));
}

json::value only_document(const Done& done) {
  auto documents = kube::wire::read_yaml(done.out);
  REQUIRE_MESSAGE(documents.has_value(), done.err);
  REQUIRE(documents->size() == 1);
  return std::move(documents->front());
}

TEST_CASE("values are shown as given and as in force, without secrets") {
  InstalledCluster installed;
  record(installed.rome, {{"clusterID", "rome"},
                          {"replicas", 3},
                          {"apiServer", json::object{{"ca", "c2VjcmV0IG9mIHJvbWU="}}},
                          {"podAnnotations", json::object{{"push-token", "abc"}}}});
  const Done done = installed.run("get values");
  REQUIRE_MESSAGE(done.code == 0, done.err);
  CHECK_FALSE(done.out.contains("c2VjcmV0IG9mIHJvbWU="));
  CHECK_FALSE(done.out.contains("abc"));
  const json::value shown = only_document(done);
  const std::string hidden = "(set, not shown)";
  CHECK(kube::object_at(shown, {"given"}) == json::object{{"clusterID", "rome"},
                                                          {"replicas", 3},
                                                          {"apiServer", json::object{{"ca", hidden}}},
                                                          {"podAnnotations", json::object{{"push-token", hidden}}}});
  CHECK(kube::int_at(shown, {"inForce", "replicas"}) == 3);
  CHECK(kube::string_at(shown, {"inForce", "apiServer", "ca"}) == "(set, not shown)");
  CHECK(kube::int_at(shown, {"inForce", "offloading", "sharingPercentage"}) == 90);
  CHECK(parsed(installed.run("get values -o json").out) == shown);
}

TEST_CASE("values of an installation without a record are those that it shows") {
  InstalledCluster installed({"replicas=3", "webhook.failurePolicy=Ignore"});
  installed.rome.remove(resources::secrets, given_values);
  const Done done = installed.run("get values");
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.err.contains("was installed before values were recorded"), done.err);
  const json::value shown = only_document(done);
  CHECK(kube::int_at(shown, {"given", "replicas"}) == 3);
  CHECK(kube::object_at(shown, {"given", "webhook"}) == json::object{{"failurePolicy", "Ignore"}});
}

TEST_CASE("values are asked of who has installed") {
  InstalledCluster installed;
  installed.rome.change(kinds::cluster_role_bindings, {"", "liqo-liqod"},
                        R"({"metadata": {"annotations": {"meta.helm.sh/release-name": "shared"}}})");
  const Done helm = installed.run("get values");
  CHECK(helm.code == 1);
  CHECK_MESSAGE(helm.err.contains("Helm has installed Liqo here: helm get values shared -n liqo"), helm.err);
  TestCluster milan(installed.world, "milan");
  const Done nowhere = installed.world.run("get values", milan);
  CHECK(nowhere.code == 1);
  CHECK_MESSAGE(nowhere.err.contains("Liqo is not installed in cluster milan"), nowhere.err);
}

}  // namespace
}  // namespace liqoctl::test
