// liqoctl enable home-names.
#include <doctest/doctest.h>

#include <utility>

#include "../command_world.hpp"
#include "kube/k8s/request.hpp"

namespace liqoctl::test {
namespace {

namespace resources = kube::resources;

const kube::ObjectKey coredns{"kube-system", "coredns"};

constexpr std::string_view usual = ".:53 {\n    errors\n    kubernetes cluster.local\n    reload\n}\n";

struct Provider {
  CommandWorld world;
  TestCluster milan{world, "milan"};

  void add(std::string_view corefile, std::string_view metadata = "{}") {
    const kube::json::object map{{"metadata", parsed(metadata)},
                                 {"data", {{"Corefile", corefile}, {"other", "stays"}}}};
    milan.add(resources::config_maps, coredns, kube::json::serialize(map));
  }
  Done enable(const std::string& flags = "") { return world.run("enable home-names " + flags, milan); }
  std::string corefile() {
    return std::string(kube::string_at(milan.get(resources::config_maps, coredns).tree(), {"data", "Corefile"}));
  }
};

TEST_CASE("the lines are shown, put in once, and taken out byte for byte") {
  Provider provider;
  provider.add(usual);
  const Done dry = provider.enable("--dry-run");
  CHECK(dry.code == 0);
  CHECK_MESSAGE(dry.out.starts_with("ConfigMap kube-system/coredns, key Corefile:\n+     # begin home-names"), dry.out);
  CHECK(provider.milan.writes() == 0);

  const Done done = provider.enable("--yes");
  CHECK_MESSAGE(done.code == 0, done.err);
  CHECK(done.out == dry.out);
  CHECK_MESSAGE(
      done.err.contains("the lines of home-names are in the Corefile; CoreDNS reads it within two minutes, "
                        "and pods that are made after that find names of home, and read their namespace's name there"),
      done.err);
  CHECK(provider.corefile().contains("rewrite name regex"));
  CHECK(kube::string_at(provider.milan.get(resources::config_maps, coredns).tree(), {"data", "other"}) == "stays");

  const std::size_t before = provider.milan.writes();
  const Done again = provider.enable("--yes");
  CHECK(again.code == 0);
  CHECK_MESSAGE(again.err.contains("CoreDNS has the lines of home-names already"), again.err);
  CHECK(provider.milan.writes() == before);

  const Done undry = provider.enable("--undo --dry-run");
  CHECK_MESSAGE(undry.out.contains("\n-     # begin home-names"), undry.out);
  CHECK(provider.milan.writes() == before);
  const Done undone = provider.enable("--undo --yes");
  CHECK(undone.code == 0);
  CHECK(provider.corefile() == usual);
  CHECK_MESSAGE(provider.enable("--undo --yes").err.contains("CoreDNS has no lines of home-names"), undone.err);
}

TEST_CASE("without a yes nothing is changed") {
  Provider provider;
  provider.add(usual);
  const Done done = provider.enable();
  CHECK(done.code == 1);
  CHECK(provider.milan.writes() == 0);
}

TEST_CASE("a CoreDNS that does not reload is to be restarted") {
  Provider provider;
  provider.add(".:53 {\n    kubernetes cluster.local\n}\n");
  CHECK(provider.enable("--yes").err.contains("kubectl rollout restart -n kube-system deployment coredns"));
}

TEST_CASE("what somebody changes meanwhile stays, and is looked at again") {
  Provider provider;
  provider.add(usual);
  bool has_met = false;
  std::string_view patch;
  provider.milan.link().on_send([&](const kube::HttpRequest& request) {
    if (request.method != "PUT" || std::exchange(has_met, true)) return;
    provider.milan.change(resources::config_maps, coredns, patch);
  });
  SUBCASE("a further plugin") {
    patch = R"({"data": {"Corefile": ".:53 {\n    log\n    kubernetes cluster.local\n}\n"}})";
    CHECK(provider.enable("--yes").code == 0);
    CHECK(provider.corefile().contains("    log\n    # begin home-names"));
  }
  SUBCASE("files of others") {
    patch = R"({"data": {"Corefile": ".:53 {\n    import x\n    kubernetes cluster.local\n}\n"}})";
    const Done done = provider.enable("--yes");
    CHECK(done.code == 1);
    CHECK_MESSAGE(done.err.contains("imports other files"), done.err);
    CHECK_FALSE(provider.corefile().contains("home-names"));
  }
  CHECK(has_met);
}

TEST_CASE("a name server that somebody else manages gets one clear line") {
  Provider provider;
  std::string_view says;
  SUBCASE("without CoreDNS") { says = "there is no ConfigMap kube-system/coredns with a Corefile"; }
  SUBCASE("without a Corefile") {
    provider.add("");
    says = "there is no ConfigMap kube-system/coredns with a Corefile";
  }
  SUBCASE("with files of others") {
    provider.add(".:53 {\n  kubernetes cluster.local\n  import custom/*.override\n}\n");
    says = "imports other files";
  }
  SUBCASE("of an addon manager") {
    provider.add(usual, R"({"labels": {"addonmanager.kubernetes.io/mode": "Reconcile"}})");
    says = "because the cluster's addon manager keeps it";
  }
  for (const char* flags : {"--yes", "--dry-run"}) {
    const Done done = provider.enable(flags);
    CHECK(done.code == 1);
    CHECK_MESSAGE(done.err.contains(says), done.err);
    CHECK_MESSAGE(done.err.contains("home-names --print"), done.err);
  }
  CHECK(provider.milan.writes() == 0);
}

TEST_CASE("the lines can be printed for whoever manages CoreDNS") {
  Provider provider;
  const Done done = provider.enable("--print --domain k8s.example");
  CHECK(done.code == 0);
  CHECK(done.out.starts_with("# begin home-names"));
  CHECK(done.out.contains("{1}{2}-{3}.svc.k8s.example. answer auto"));
  CHECK(provider.milan.asked.empty());
  CHECK(provider.enable("--print --domain not/one").code == 2);
}

}  // namespace
}  // namespace liqoctl::test
