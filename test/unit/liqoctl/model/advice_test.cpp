// The advice at the end of a failed command's line.
#include <doctest/doctest.h>

#include "model/advice.hpp"

namespace {

using namespace liqoctl::model;

kube::Failure answer(int code, std::string message) {
  return kube::Failure::from_status({.code = code, .reason = "", .message = std::move(message)}).in("list in rome");
}

TEST_CASE("who has not a right is told where it comes from") {
  const auto refused =
      answer(403, R"(pods is forbidden: User "anna" cannot list resource "pods" in API group "" at the cluster scope)");
  CHECK(advised(refused).starts_with(refused.text()));
  CHECK(
      advised(refused).ends_with("; give the kubeconfig of a user who may, or ask an administrator of that cluster "
                                 "for the right"));
}

TEST_CASE("what says already what to do stays as it is") {
  const auto webhook = answer(403, "admission webhook denied the request: the name is taken");
  CHECK(advised(webhook) == webhook.text());
  const auto told = answer(403, R"(User "anna" cannot get resource "x" in API group "")").in("see liqoctl generate");
  CHECK(advised(told) == told.text());
  const auto object = answer(404, R"(quotas.offloading.liqo.io "one" not found)");
  CHECK(advised(object) == object.text());
  const kube::Failure other(kube::Errc::timeout, "no answer in time");
  CHECK(advised(other) == "no answer in time");
}

TEST_CASE("where liqod does not review a request, one sentence says whose it is and what to do") {
  const auto refused = answer(500, R"(Internal error occurred: failed calling webhook "tenant.mutate.liqo.io": failed )"
                                   R"(to call webhook: Post "https://liqod.liqo.svc:443/mutate?timeout=10s": dial tcp )"
                                   R"(10.96.1.2:443: connect: connection refused)");
  const auto read = read_unreviewed(refused);
  REQUIRE(read);
  CHECK(read->cause == "dial tcp 10.96.1.2:443: connect: connection refused");
  CHECK(read_unreviewed(answer(500, R"(failed calling webhook "a.liqo.io": no endpoints)"))->cause == "no endpoints");
  CHECK_FALSE(read_unreviewed(answer(500, R"(failed calling webhook "policy.example.com": no endpoints)")));
  CHECK_FALSE(read_unreviewed(answer(403, "the name is taken")));
  struct Row {
    Reviewer reviewer;
    std::string_view who, what;
  };
  const std::string cause = "(dial tcp 10.96.1.2:443: connect: connection refused)";
  const Row rows[] = {
      {{.who = "this cluster (rome)", .ns = "liqo", .alert = "is scaled to none: kubectl scale"},
       "this cluster (rome)",
       ": it is scaled to none: kubectl scale"},
      {{.who = "this cluster (rome)", .ns = "liqo"},
       "this cluster (rome)",
       ": kubectl get pods -n liqo shows whether it runs there, and liqoctl check what is wrong"},
      // The reader may not look there.
      {{.who = "cluster milan"}, "cluster milan", ": ask its operator whether it runs"},
      {{}, "one of the two clusters", ": liqoctl check, with the kubeconfig of each, says what is wrong"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const std::string said = unreviewed(*read, row.reviewer);
    CHECK(said.starts_with("list in rome: liqod of " + std::string(row.who) +
                           ", which reviews this request, does not answer"));
    CHECK(said.ends_with(row.what));
    CHECK(said.contains(cause) == row.reviewer.alert.empty());
  }
}

TEST_CASE("where liqod does not review a request, what was tried and what is left behind are told all the same") {
  const std::string tried = "create /api/v1/namespaces/shop/persistentvolumeclaims in rome: ";
  const std::string said = tried + R"(Internal error occurred: failed calling webhook "claim.mutate.liqo.io": failed )"
                                   R"(to call webhook: Post "https://liqod.liqo.svc:443/mutate?timeout=10s": dial tcp )"
                                   R"(10.96.1.2:443: connect: connection refused)";
  // The text of `move volume`.
  const std::string left =
      ". Claim shop/liqo-move-data, which was to get the copy, is left: the same command goes on "
      "with it; who gives up removes it: kubectl delete pvc liqo-move-data -n shop";
  const auto moved = read_unreviewed(kube::Failure(kube::Errc::api, said + left).in("copying"));
  REQUIRE(moved);
  CHECK(moved->before == "copying: " + tried);
  CHECK(moved->cause == "dial tcp 10.96.1.2:443: connect: connection refused");
  CHECK(moved->after == left);
  CHECK(unreviewed(*moved, {.who = "this cluster (rome)", .ns = "liqo", .alert = "is scaled to none"}) ==
        "copying: " + tried +
            "liqod of this cluster (rome), which reviews this request, does not answer: it is scaled to none" + left);
  const std::string force = "; if the provider will not come back: liqoctl force unpeer ID";
  const auto unpeered = read_unreviewed(kube::Failure(kube::Errc::timeout, said + force));
  REQUIRE(unpeered);
  CHECK(unpeered->cause == moved->cause);
  CHECK(unpeered->after == force);
}

TEST_CASE("a server that cannot be connected to is named, with what to check, and not what was asked for") {
  const std::string_view check = "): check that address, and that this machine reaches it";
  const std::string there = "cluster rome cannot be reached at 10.0.0.1:6443, the server that its kubeconfig names (";
  const std::string asked = "get /api/v1/namespaces/liqo/configmaps/liqo-clusterid-configmap in rome";
  struct Row {
    std::string before, why, after;
  };
  const Row rows[] = {
      {"", "No route to host", ""},
      {"authentication: ", "looking up the name: Host not found (authoritative)", ""},
      {"", "no answer in time; 10.0.0.1: Connection refused", ""},
      {"offloading: ", "Connection refused", "; if the provider will not come back: liqoctl force unpeer ID"},
      {"gave up waiting for it after 4s; last seen: ", "no answer in time", ". Claim shop/data is left"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.why);
    for (const kube::Errc code : {kube::Errc::connect, kube::Errc::timeout}) {
      const kube::Failure failed(code, row.before + asked + ": connecting to 10.0.0.1:6443: " + row.why + row.after);
      CHECK(advised(failed) == row.before + there + row.why + std::string(check) + row.after);
    }
  }
  const kube::Failure tls(kube::Errc::tls, asked + ": connecting to 10.0.0.1:6443: TLS: it is not who it should be");
  CHECK(advised(tls) == tls.text());
}

TEST_CASE("a cluster without Liqo's kinds is told as such") {
  const auto missing = answer(404, "404 page not found").in("/apis/core.liqo.io/v1beta1/foreignclusters");
  CHECK(advised(missing).ends_with("404 page not found; is Liqo installed there? (liqoctl install --help)"));
  const auto others = answer(404, "404 page not found").in("/apis/metrics.k8s.io/v1beta1/pods");
  CHECK(advised(others) == others.text());
}

TEST_CASE("a file that is not there is told apart from one that cannot be read") {
  CHECK(unreadable("/nowhere/milan.yaml") == "there is no file /nowhere/milan.yaml");
  CHECK(unreadable("/") == "/ cannot be read");
}

}  // namespace
