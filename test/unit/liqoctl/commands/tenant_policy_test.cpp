// liqoctl set tenant.
#include <doctest/doctest.h>

#include <utility>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

const kube::ObjectKey tenant_namespace{"", "liqo-tenant-rome"};

struct Provider {
  CommandWorld world;
  TestCluster milan{world, "milan"};
  Provider() { add_consumer_rome(milan); }

  Done set(const std::string& flags) { return world.run("set tenant rome " + flags, milan); }
  std::string policy() {
    return std::string(milan.get(resources::namespaces, tenant_namespace).annotation("liqo.io/pod-policy"));
  }
};

TEST_CASE("a limit is written once, and told") {
  Provider provider;
  const Done dry = provider.set("--max cpu=3 --dry-run");
  CHECK(dry.code == 0);
  CHECK_MESSAGE(dry.err.ends_with("INFO: milan: would update the policy of namespace liqo-tenant-rome\n"), dry.err);
  CHECK(provider.policy().empty());
  CHECK(provider.milan.writes() == 0);

  const Done done = provider.set("--max cpu=3");
  CHECK(done.code == 0);
  CHECK_MESSAGE(
      done.err.ends_with("INFO: milan: policy of namespace liqo-tenant-rome updated; pods that run are not changed\n"),
      done.err);
  CHECK_MESSAGE(done.out.contains("maxResources"), done.out);
  CHECK(kube::string_at(parsed(provider.policy()), {"maxResources", "cpu"}) == "3");

  const std::size_t before = provider.milan.writes();
  const Done again = provider.set("--max cpu=3");
  CHECK(again.code == 0);
  CHECK_MESSAGE(again.err.ends_with("INFO: milan: policy of namespace liqo-tenant-rome is unchanged\n"), again.err);
  CHECK(provider.milan.writes() == before);
}

TEST_CASE("a policy that somebody else changes meanwhile keeps both changes") {
  Provider provider;
  bool has_met = false;
  provider.milan.link().on_send([&](const kube::HttpRequest& request) {
    if (request.method != "PATCH" || std::exchange(has_met, true)) return;
    provider.milan.change(
        resources::namespaces, tenant_namespace,
        R"({"metadata": {"annotations": {"liqo.io/pod-policy": "{\"maxResources\": {\"memory\": \"4Gi\"}}"}}})");
  });
  const Done done = provider.set("--max cpu=3");
  CHECK(done.code == 0);
  CHECK(has_met);
  const kube::json::value policy = parsed(provider.policy());
  CHECK(kube::string_at(policy, {"maxResources", "cpu"}) == "3");
  CHECK(kube::string_at(policy, {"maxResources", "memory"}) == "4Gi");
}

TEST_CASE("a policy is set of consumers alone, and by saying what") {
  Provider provider;
  const Done nothing = provider.world.run("set tenant rome", provider.milan);
  CHECK(nothing.code == 2);
  CHECK_MESSAGE(nothing.err.contains("nothing is to be set: give --max, --max-slice, --allow, --forbid, --unset or "
                                     "--replace"),
                nothing.err);
  const Done stranger = provider.world.run("set tenant rom --max cpu=3", provider.milan);
  CHECK(stranger.code == 1);
  CHECK_MESSAGE(stranger.err.contains("rome"), stranger.err);
  CHECK(provider.milan.writes() == 0);
}

TEST_CASE("a policy that cannot be read is not lost") {
  Provider provider;
  provider.milan.change(resources::namespaces, tenant_namespace,
                        R"({"metadata": {"annotations": {"liqo.io/pod-policy": "{"}}})");
  const Done done = provider.set("--max cpu=3");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("ERRO: the policy of rome (annotation liqo.io/pod-policy of namespace "
                                  "liqo-tenant-rome) cannot be read: "),
                done.err);
  CHECK(provider.policy() == "{");
}

}  // namespace
}  // namespace liqoctl::test
