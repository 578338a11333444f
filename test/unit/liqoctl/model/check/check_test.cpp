// The findings of `liqoctl check`.
#include "model/check/check.hpp"

#include <doctest/doctest.h>

#include "model/install/daemon_arguments.hpp"

namespace {

using namespace liqoctl;
using namespace std::chrono_literals;
using model::Finding;
using model::State;
namespace json = kube::json;

kube::Object object(const std::string& text) { return kube::Object(json::parse(text).as_object()); }

/// "good", "bad" or "open", and the sentence.
std::string said(const Finding& finding) {
  const char* state = finding.state == State::good ? "good" : finding.state == State::bad ? "bad" : "open";
  return std::string(state) + ": " + finding.text;
}

void is(const Finding& finding, std::string_view state, std::string_view words = "") {
  const std::string text = said(finding);
  CAPTURE(text);
  const bool as_wanted = text.starts_with(std::string(state) + ": ") && text.contains(words);
  CHECK(as_wanted);
}

kube::Object deployment(const std::string& arguments = "[]") {
  return object(
      R"({"metadata":{"name":"liqod","namespace":"liqo"},"spec":{"replicas":2,"template":{"spec":{"containers":[
      {"args":)" +
      arguments + "}]}}}}");
}

/// A consumer whose pods get nothing new. Its Quotas are in the same namespace.
kube::Object drained_tenant(const std::string& ns) {
  return object(R"({"metadata":{"name":"rome","namespace":")" + ns +
                R"("},"spec":{"clusterID":"rome","tenantCondition":"Drained"}})");
}

TEST_CASE("a clock may be a minute off") {
  is(model::judge_clock(std::nullopt), "open");
  is(model::judge_clock(0s), "good");
  is(model::judge_clock(-60s), "good");
  is(model::judge_clock(3600s), "bad", "60m ahead of this machine's");
  is(model::judge_clock(-90s), "bad", "90s behind this machine's");
}

TEST_CASE("kinds have to be there, to be served, and to take what this version writes") {
  const std::string schema =
      R"("spec":{"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"properties":)";
  const std::string named = R"({"kind":"CustomResourceDefinition","metadata":{"name":"x.liqo.io"},)";
  const std::string served = R"(,"status":{"conditions":[{"type":"Established","status":"True"}]}})";
  const std::vector<json::value> wanted{json::parse(named + schema + R"({"a":{},"b":{}}}}}]}})"),
                                        json::parse(R"({"kind":"Namespace"})")};
  is(model::judge_kinds(wanted, {}), "bad", "not there: x.liqo.io");
  is(model::judge_kinds(wanted, {object(named + schema + R"({"a":{},"b":{}}}}}]}})")}), "bad", "not served: x.liqo.io");
  is(model::judge_kinds(wanted, {object(named + schema + R"({"a":{}}}}}]})" + served)}), "bad",
     "liqoctl upgrade --kinds");
  is(model::judge_kinds(wanted, {object(named + schema + R"({"a":{},"b":{},"c":{}}}}}]})" + served)}), "good", "all 1");
  is(model::judge_kinds(wanted, {object(named + schema + R"({"a":{},"c":{}}}}}]})" + served)}), "bad",
     "x.liqo.io (it does not take v1.b, and takes v1.c)");
  // The same names, but another type.
  const std::vector<json::value> number{json::parse(named + schema + R"({"a":{"type":"integer"}}}}}]}})")};
  is(model::judge_kinds(number, {object(named + schema + R"({"a":{"type":"string"}}}}}]})" + served)}), "bad",
     "x.liqo.io (it does not take v1.a as integer, and takes v1.a as string)");
  is(model::judge_kinds(number, {object(named + schema + R"({"a":{"type":"integer"}}}}}]})" + served)}), "good");
}

TEST_CASE("rights are those of the chart, no less and no more") {
  const std::string role = R"({"kind":"Role","metadata":{"name":"r","namespace":"liqo"},"rules":)";
  const std::string binding = R"({"kind":"RoleBinding","metadata":{"name":"b","namespace":"liqo"},"subjects":)";
  const std::vector<json::value> wanted{json::parse(role + R"([{"verbs":["get"]}]})"),
                                        json::parse(binding + R"([{"name":"liqo"}]})")};
  const auto bound = object(binding + R"([{"name":"liqo"}]})");
  is(model::judge_rights(wanted, {}), "bad", "lacks Role r, RoleBinding b");
  is(model::judge_rights(wanted, {object(role + R"([{"verbs":["get"]}]})"), bound}), "good");
  is(model::judge_rights(wanted, {object(role + R"([{"verbs":["get","list"]}]})"), bound}), "bad", "Role r");
  is(model::judge_rights(wanted, {object(role + R"([{"verbs":["get"]}]})"), object(binding + "[]}")}), "bad",
     "RoleBinding b");
  // A role without rules is stored without the field.
  const std::vector<json::value> empty{json::parse(role + "[]}")};
  is(model::judge_rights(empty, {object(R"({"kind":"Role","metadata":{"name":"r","namespace":"liqo"}})")}), "good");
}

TEST_CASE("the roles that a daemon needs depend on its arguments") {
  CHECK(json::value(model::values_of_rights(nullptr)) == json::parse(R"({"deployment":false})"));
  const auto bare = deployment(R"(["--cluster-id=rome","--metric-agent-port=0"])");
  CHECK(json::value(model::values_of_rights(&bare)) ==
        json::parse(R"({"clusterID":"liqod","image":{"repository":"liqod"},"metricAgent":{"enabled":false},
            "storage":{"enabled":false},"offloading":{"namespaces":{"selector":""},"reflection":{"custom":[]}},
            "extraArgs":[]})"));
  const auto full = deployment(R"(["--cluster-id=rome","--metric-agent-port=8443","--virtual-storage-class-name=liqo",
      "--offload-namespaces=team=ml","--reflect-custom=widgets.shop.example,status,workers=2",
      "--reflect-custom=gears.shop.example","--home-api-server-host","rome.example","--leader-elect",
      "--apiserver-support=needed","--listen-port=10250"])");
  CHECK(json::value(model::values_of_rights(&full)) ==
        json::parse(R"({"clusterID":"liqod","image":{"repository":"liqod"},"metricAgent":{"enabled":true},
            "storage":{"enabled":true},"offloading":{"namespaces":{"selector":"team=ml"},"reflection":{"custom":[
              {"resource":"widgets","group":"shop.example","status":true},
              {"resource":"gears","group":"shop.example","status":false}]}},
            "extraArgs":["--home-api-server-host","rome.example","--apiserver-support=needed"]})"));
  // The chart's schema refuses a value that was written by hand.
  const auto odd = deployment(R"(["--reflect-custom="])");
  CHECK(kube::array_at(json::value(model::values_of_rights(&odd)), {"offloading", "reflection", "custom"}).size() == 1);
}

TEST_CASE("the daemon runs, or it is told why not") {
  const auto there = deployment();
  is(model::judge_daemon(nullptr, ""), "open");
  is(model::judge_daemon(&there, ""), "good", "2 replicas run");
  auto none = deployment();
  none.mutable_spec()["replicas"] = 0;
  is(model::judge_daemon(&none, ""), "bad", "scaled to none");
  is(model::judge_daemon(&there, "pod x: ErrImagePull"), "bad",
     "ErrImagePull: kubectl logs -n liqo -l app.kubernetes.io/name=liqod --prefix --tail=200");
}

TEST_CASE("a daemon that does not run is told to who waits for it, once that is known") {
  CHECK(model::daemon_alert(nullptr).empty());
  auto there = deployment();
  CHECK(model::daemon_alert(&there).empty());
  there.mutable_status()["observedGeneration"] = 1;
  CHECK(model::daemon_alert(&there).starts_with("is not up: no replica answers: kubectl logs -n liqo "));
  CHECK(model::daemon_alert(&there, false) == "is not up: no replica answers: ask its operator to start it");
  there.mutable_status()["availableReplicas"] = 1;
  CHECK(model::daemon_alert(&there).empty());
  there.mutable_spec()["replicas"] = 0;
  CHECK(model::daemon_alert(&there) == "is scaled to none: kubectl scale -n liqo deployment/liqod --replicas=2");
  CHECK(model::daemon_alert(&there, false) == "is scaled to none: ask its operator to start it");
}

TEST_CASE("versions are compared where they are versions") {
  is(model::judge_versions("", "", "0.1.0"), "open");
  is(model::judge_versions("v0.1.0", "0.1.0", "0.1.0"), "good");
  is(model::judge_versions("mine", "", "0.1.0"), "good", "liqod mine");
  is(model::judge_versions("0.2.0", "", "0.1.0"), "bad");
  is(model::judge_versions("0.1.0", "0.2.0", "0.1.0"), "bad", "liqod of the peer 0.2.0");
}

TEST_CASE("webhooks are asked when what they refuse is refused in their words") {
  const auto on = deployment(R"(["--webhook-port=9443"])"), off = deployment(R"(["--webhook-port=0"])");
  is(model::judge_webhooks(&off, 0, std::nullopt), "open", "switched off");
  is(model::judge_webhooks(&on, 1, "denied"), "bad", "not there");
  is(model::judge_webhooks(nullptr, 2, std::nullopt), "bad", "took what they refuse");
  is(model::judge_webhooks(&on, 2, "failed calling webhook: refused"), "bad", "port 9443");
  const auto moved = deployment(R"(["--webhook-port=10250"])");
  is(model::judge_webhooks(&moved, 2, "failed calling webhook: refused"), "bad", "port 10250");
  is(model::judge_webhooks(nullptr, 2, "failed calling webhook: refused"), "bad", "port 9443");
  is(model::judge_webhooks(&on, 2, "you cannot create resource"), "bad", "cannot be tried out: you cannot");
  is(model::judge_webhooks(&on, 2, "a NamespaceOffloading must be called \"offloading\""), "good");
}

TEST_CASE("where consumers are sent is what they were told, what was set, or what nodes say") {
  const auto tenant =
      object(R"({"status":{"authParams":{"apiServer":"https://told:6443","ca":"Q0E=","proxyURL":"http://p"}}})");
  const auto given =
      deployment(R"(["--api-server-address-override=given.example","--ca-override=Q0E=","--trusted-ca"])");
  const auto bare = deployment();
  const auto node = object(R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/control-plane":""}},
      "status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})");
  const auto told = model::told_address(&given, {tenant}, {node}, "https://own");
  CHECK(told.url == "https://told:6443");
  CHECK(told.ca_pem == "CA");
  CHECK(told.through_proxy);
  CHECK_FALSE(told.public_ca);
  const auto set = model::told_address(&given, {}, {node}, "https://own");
  CHECK(set.url == "https://given.example");
  CHECK(set.ca_pem == "CA");
  CHECK(set.public_ca);
  CHECK(model::told_address(&bare, {}, {node}, "https://own").url == "https://10.0.0.1:6443");
  CHECK(model::told_address(nullptr, {}, {}, "https://own").url == "https://own");
  CHECK(model::told_address(&bare, {}, {}, "https://own").url.empty());
}

TEST_CASE("an address is well where it answers, and not where it leads consumers to themselves") {
  is(model::judge_address({.url = "https://10.0.0.1:6443"}, ""), "good", "answers at https://10.0.0.1:6443");
  is(model::judge_address({.url = "https://10.0.0.1:6443"}, "timed out"), "bad", "timed out");
  is(model::judge_address({}, ""), "bad", "--api-server-url");
  for (const char* url :
       {"https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443", "https://0.0.0.0:6443"})
    is(model::judge_address({.url = url}, ""), "bad", "leads every consumer to itself");
  is(model::judge_address({.url = "https://x:6443", .through_proxy = true}, ""), "open", "proxy");
}

TEST_CASE("a kubelet API that is not reached is named") {
  is(model::judge_kubelet_api({}), "open");
  is(model::judge_kubelet_api({{"milan", ""}, {"turin", ""}}), "good", "2 virtual nodes");
  is(model::judge_kubelet_api({{"milan", ""}, {"turin", "no route"}}), "bad", "node turin (no route)");
}

TEST_CASE("a virtual node that has no Node, because another one has its name, is told of") {
  const auto virtual_node = [](const std::string& conditions) {
    return object(R"({"metadata":{"name":"graz","namespace":"liqo-tenant-linz"},"status":{"conditions":)" + conditions +
                  "}}");
  };
  const kube::Object well = virtual_node(R"([{"type":"Node","status":"Running","reason":"NodeReady"}])");
  const kube::Object second = virtual_node(R"([{"type":"Node","status":"None","reason":"NodeNameTaken",
      "message":"VirtualNode liqo-tenant-graz/graz has it"}])");
  CHECK_FALSE(model::judge_node_names({}));
  CHECK_FALSE(model::judge_node_names({well, virtual_node("[]")}));
  const auto found = model::judge_node_names({well, second});
  REQUIRE(found);
  is(*found, "bad", "liqo-tenant-linz/graz has no Node: VirtualNode liqo-tenant-graz/graz has it");
}

TEST_CASE("what tells consumers of their pods' use is reached, or it is said what to do") {
  const auto with = [](const char* args) {
    return object(R"({"metadata":{"name":"liqod"},"spec":{"template":{"spec":{"containers":[{"args":)" +
                  std::string(args) + "}]}}}}");
  };
  const kube::Object on = with(R"(["--metric-agent-port=8444"])"), off = with(R"(["--metric-agent-port=0"])");
  const kube::Object without = with("[]");
  const auto service = [](const char* name, const char* conditions) {
    return object(R"({"metadata":{"name":"v1beta1.metrics.liqo.io"},"spec":{"service":{"namespace":"liqo","name":")" +
                  std::string(name) + R"("}},"status":{"conditions":)" + conditions + "}}");
  };
  constexpr const char* available = R"([{"type":"Available","status":"True"}])";
  const kube::Object good = service("liqo-metric-agent", available), other = service("figures", available);
  const kube::Object dead =
      service("liqo-metric-agent", R"([{"type":"Available","status":"False","message":"no endpoints"}])");
  const kube::Object fresh = service("liqo-metric-agent", "[]");
  for (const kube::Object* nobody : {static_cast<const kube::Object*>(nullptr), &off, &without})
    is(model::judge_usage(nobody, {.api_service = nullptr, .ns = "liqo"}), "open", "metricAgent.enabled");
  is(model::judge_usage(&on, {.api_service = nullptr, .ns = "liqo"}), "bad", "there is no APIService");
  is(model::judge_usage(&on, {.ns = "liqo"}), "bad", "kubectl describe service -n liqo liqo-metric-agent");
  is(model::judge_usage(&on, {.ns = "liqo", .has_front_proxy = false}), "open", "--requestheader-client-ca-file");
  is(model::judge_usage(&on, {.api_service = &dead, .ns = "liqo", .has_front_proxy = false}), "bad", "(no endpoints)");
  is(model::judge_usage(&on, {.api_service = &good, .ns = "liqo"}), "good");
  is(model::judge_usage(&on, {.api_service = &good, .ns = "elsewhere"}), "bad",
     "leads to Service liqo/liqo-metric-agent");
  is(model::judge_usage(&on, {.api_service = &other, .ns = "liqo"}), "bad", "leads to Service liqo/figures");
  is(model::judge_usage(&off, {.api_service = &other, .ns = "liqo"}), "good");
  is(model::judge_usage(&on, {.api_service = &dead, .ns = "liqo"}), "bad", "(no endpoints)");
  is(model::judge_usage(&on, {.api_service = &dead, .ns = "liqo"}), "bad", "port 8444");
  // It is also reported if it was left behind, because it holds up the removal of namespaces.
  is(model::judge_usage(&off, {.api_service = &dead, .ns = "liqo"}), "bad", "removes no namespace");
  is(model::judge_usage(&on, {.api_service = &fresh, .ns = "liqo"}), "bad", "has not looked");
}

TEST_CASE("an account as which kubelets are asked is there and has its right, or it is said what to do") {
  const auto with = [](const char* args) {
    return object(R"({"metadata":{"name":"liqod"},"spec":{"template":{"spec":{"containers":[{"args":)" +
                  std::string(args) + "}]}}}}");
  };
  const kube::Object on = with(R"(["--metric-agent-port=8443"])"), off = with("[]");
  CHECK_FALSE(model::judge_usage_account(&off, {}, "liqo"));
  CHECK_FALSE(model::judge_usage_account(nullptr, {}, "liqo"));
  const auto judged = [&on](const model::UsageAccount& account) {
    return model::judge_usage_account(&on, account, "liqo").value();
  };
  is(judged({}), "bad", "ServiceAccount liqo/liqo-metric-agent is not there");
  is(judged({.exists = true, .may_liqod_have_token = false}), "bad", "liqod may not have a token");
  is(judged({.exists = true, .may_liqod_have_token = true, .may_read_usage = false}), "bad", "nodes/metrics");
  is(judged({.exists = true, .may_liqod_have_token = true, .may_read_usage = true}), "good");
  // The user may not read the rights of others, so nothing is known to be wrong.
  is(judged({.exists = true}), "good");
}

TEST_CASE("a setting of what is shared that cannot be read is named, wherever it stands") {
  const kube::Object good = object(R"({"metadata":{"name":"liqo-sharing-policy","namespace":"liqo"},
                                       "data":{"sharing-percentage":"0","typo":"x"}})");
  const kube::Object bad = object(R"({"metadata":{"name":"liqo-sharing-policy","namespace":"liqo"},
                                      "data":{"sharing-percentage":"many","enable-storage":"yes"}})");
  const auto tenant = [](const char* percentage) {
    return object(R"({"metadata":{"name":"rome","namespace":"liqo-tenant-rome","annotations":{
                      "liqo.io/sharing-percentage":")" +
                  std::string(percentage) + "\"}}}");
  };
  is(model::judge_sharing(nullptr, {}), "good");
  is(model::judge_sharing(&good, {tenant("0")}), "good");
  is(model::judge_sharing(&bad, {}), "bad", "ConfigMap liqo/liqo-sharing-policy, enable-storage");
  is(model::judge_sharing(&bad, {}), "bad", "sharing-percentage: \"many\" is not a whole number from 0 to 100");
  is(model::judge_sharing(&good, {tenant("101")}), "bad", "Tenant liqo-tenant-rome/rome");
}

TEST_CASE("a daemon that does not run and webhooks that are not reached come before what is wrong for that reason") {
  using model::State;
  std::vector<model::Finding> findings{
      {"kinds", State::bad, ""}, {"webhooks", State::bad, ""}, {"figures", State::bad, ""}};
  const auto order = [&findings] {
    std::string names;
    for (const model::Finding& finding : findings) names += finding.about + " ";
    return names;
  };
  model::put_first_things_first(findings);
  CHECK(order() == "webhooks kinds figures ");
  findings = {{"kinds", State::bad, ""}, {"liqod", State::bad, ""}, {"webhooks", State::bad, ""}};
  model::put_first_things_first(findings);
  CHECK(order() == "liqod webhooks kinds ");
  findings = {{"kinds", State::good, ""}, {"webhooks", State::good, ""}, {"figures", State::bad, ""}};
  model::put_first_things_first(findings);
  CHECK(order() == "kinds webhooks figures ");
}

TEST_CASE("metrics that the API server does not reach are told, unless nobody but some may reach them") {
  const auto daemon = [](const std::string& arguments) {
    return object(R"({"metadata":{"name":"liqod"},"spec":{"template":{"spec":{"containers":[{"args":[)" + arguments +
                  "]}]}}}}");
  };
  const kube::Object secure = daemon(R"("--metrics-address=:8182","--metrics-secure=true")");
  CHECK(model::metrics_port(&secure) == "8182");
  CHECK(model::has_secure_metrics(&secure));
  const kube::Object plain = daemon(R"("--metrics-secure=false")");
  CHECK_FALSE(model::has_secure_metrics(&plain));
  is(model::judge_metrics(nullptr, {.has_service = true}), "open", "no Deployment");
  is(model::judge_metrics(&secure, {}), "open", "metrics.enabled");
  is(model::judge_metrics(&secure, {.has_service = true}), "good", "port 8182");
  is(model::judge_metrics(&secure, {.has_service = true, .trouble = "no endpoints"}), "bad", "(no endpoints)");
  is(model::judge_metrics(&secure, {.has_service = true, .confined = true, .trouble = "i/o timeout"}), "open",
     "names who reaches port 8182");
  const kube::Object policy = object(
      R"({"spec":{"ingress":[{"ports":[{"port":8182}]},{"ports":[{"port":9443}],"from":[{"podSelector":{}}]}]}})");
  CHECK_FALSE(model::is_confined(policy, "8182"));
  CHECK(model::is_confined(policy, "9443"));
}

TEST_CASE("what keeps a pod from running is told, and of an image what can be done") {
  const auto pod = [](const std::string& reason, const std::string& message) {
    return object(R"({"status":{"containerStatuses":[{"image":"a/b:1","state":{"waiting":{"reason":")" + reason +
                  R"(","message":")" + message + R"("}}}],"conditions":[{"status":"False","message":"not ready"}]}})");
  };
  const auto has = [](const std::string& text, std::string_view words) {
    CAPTURE(text);
    CHECK(text.starts_with(words));
  };
  has(model::trouble_of(pod("ErrImagePull", "rpc error: code = NotFound desc = failed to pull: not found")),
      "image a/b:1 cannot be pulled (failed to pull: not found): load it on the nodes");
  has(model::trouble_of(pod("ImagePullBackOff", "Back-off pulling image: ErrImagePull: denied")),
      "image a/b:1 cannot be pulled (denied): ");
  has(model::trouble_of(pod("ImagePullBackOff", "")), "image a/b:1 cannot be pulled (ImagePullBackOff): ");
  has(model::trouble_of(pod("ErrImageNeverPull", "is not present with pull policy of Never")),
      "image a/b:1 cannot be pulled (is not present with pull policy of Never): ");
  CHECK(model::trouble_of(pod("CrashLoopBackOff", "back-off 10s")) == "CrashLoopBackOff back-off 10s");
  CHECK(model::trouble_of(object(R"({"status":{"conditions":[{"status":"False","message":"no nodes"}]}})")) ==
        "no nodes");
  CHECK(model::trouble_of(object(R"({"status":{}})")).empty());
}

TEST_CASE("ranges of peers that overlap with one's own are told") {
  const auto peer = [](const std::string& ranges) {
    return object(R"({"metadata":{"name":"m","annotations":{"liqo.io/remote-pod-cidrs":")" + ranges +
                  R"("}},"spec":{"clusterID":"milan"}})");
  };
  const std::vector<model::OwnRange> own{{*liqo::core::Cidr::parse("10.2.0.0/16"), "Services"}};
  is(model::judge_ranges({}, own), "open");
  is(model::judge_ranges({peer("none")}, own), "open");
  is(model::judge_ranges({peer("10.3.0.0/16")}, own), "good");
  is(model::judge_ranges({peer("10.3.0.0/16"), peer("10.2.7.0/24")}, own), "bad", "milan in 10.2.7.0/24");
  is(model::judge_ranges({peer("everything")}, own), "bad", "everything");
}

TEST_CASE("a quota of which nothing is left is told") {
  const auto quota = [](const char* used) {
    return object(
        R"({"metadata":{"name":"q","namespace":"t"},"spec":{"resources":{"cpu":"2","gpu":"0"}},"status":{"used":)" +
        std::string(used) + "}}");
  };
  is(model::judge_quotas({}), "open");
  const kube::Object free = quota(R"({"cpu":"1500m","gpu":"0"})");
  is(model::judge_quotas({free}), "good", "there is 1, and it is not used up");
  is(model::judge_quotas({free, free, free}), "good", "there are 3, and none is used up");
  // A consumer may use what it has requested.
  const kube::Object full = quota(R"({"cpu":"2000m"})");
  is(model::judge_quotas({full}), "open", "used up: t/q (cpu 2 of 2)");
  // If new pods are refused, none waits for others to end.
  kube::Object cordoned = full, drained = full;
  cordoned.mutable_spec()["cordoned"] = true;
  drained.set_annotation("liqo.io/drained", "true");
  is(model::judge_quotas({cordoned, drained}), "good", "none is used up");
  is(model::judge_quotas({full}, {drained_tenant("t")}), "good", "it is not used up");
}

TEST_CASE("what is granted to all together is compared with what the nodes have") {
  const auto quota = [](const std::string& resources) {
    return object(R"({"metadata":{"name":"q","namespace":"t"},"spec":{"resources":)" + resources + "}}");
  };
  const kube::Object node = object(R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"2","memory":"4Gi"}}})");
  const kube::Object of_a_peer = object(R"({"metadata":{"name":"v","labels":{"liqo.io/type":"virtual-node"}},
                                            "status":{"allocatable":{"cpu":"100"}}})");
  CHECK_FALSE(model::judge_capacity({}, {node}));
  // The nodes could not be read.
  CHECK_FALSE(model::judge_capacity({quota(R"({"cpu":"1"})")}, {}));
  const kube::Object half = quota(R"({"cpu":"1500m","memory":"1Gi"})");
  is(model::judge_capacity({half}, {node, of_a_peer}).value(), "good",
     "lent to all together: cpu 1500m, memory 1Gi; the nodes have cpu 2, memory 4Gi");
  is(model::judge_capacity({half, half}, {node, of_a_peer}).value(), "open",
     "more than the cluster has: cpu 3 (its nodes have 2); pods that find no room stay Pending");
  is(model::judge_capacity({half, quota(R"({"cpu":"500m","gpu":"1"})")}, {node}).value(), "open",
     "more than the cluster has: gpu 1 (its nodes have 0)");
}

TEST_CASE("pods that no slice has named count with what runs, and those that were asked for as granted") {
  const kube::Object node = object(R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8","pods":"110"}}})");
  const auto quota = [](const std::string& request, const std::string& used, const std::string& marks = "") {
    kube::Object made = object(R"({"metadata":{"name":"q","namespace":"t","ownerReferences":[
        {"apiVersion":"x","kind":"ResourceSlice","name":"s","uid":"u","controller":true}]},
        "spec":{"resources":{"cpu":"2","pods":"110"}},"status":{"used":{"pods":")" +
                               used + R"("}}})");
    made.set_annotation("liqo.io/negotiated",
                        R"({"class":"default","granted":{"cpu":"2","pods":"110"},"request":)" + request + "}");
    if (!marks.empty()) made.set_annotation(marks, "true");
    return made;
  };
  const kube::Object usual = quota(R"({"cpu":"2"})", "3"), busy = quota(R"({"cpu":"2"})", "109"),
                     asked = quota(R"({"pods":"110"})", "3"),
                     drained = quota(R"({"pods":"110"})", "3", "liqo.io/drained");
  is(model::judge_capacity({usual, usual}, {node}).value(), "good",
     "lent to all together: cpu 4; the nodes have cpu 8");
  is(model::judge_capacity({usual, busy}, {node}).value(), "open", "pods 112 (its nodes have 110)");
  is(model::judge_capacity({usual, asked}, {node}).value(), "open", "pods 113 (its nodes have 110)");
  is(model::judge_capacity({usual, drained}, {node}).value(), "good", "cpu 2; the nodes");
}

TEST_CASE("what a drained consumer's pods hold still is not granted, whether they are kept or not") {
  const kube::Object node = object(R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8"}}})");
  const auto quota = [](std::string_view used) {
    return object(R"({"metadata":{"name":"q","namespace":"t"},"spec":{"resources":{"cpu":"2"}},
        "status":{"used":{"cpu":")" +
                  std::string(used) + R"("}}})");
  };
  is(model::judge_capacity({quota("1")}, {node}).value(), "good", "lent to all together: cpu 2");
  // drain --keep-pods marks the Tenant alone.
  const kube::Object tenant = drained_tenant("t");
  CHECK_FALSE(model::judge_capacity({quota("1")}, {node}, {tenant}));
  is(model::judge_capacity({quota("9")}, {node}, {tenant}).value(), "open", "cpu 9 (its nodes have 8)");
  kube::Object marked = quota("1");
  marked.set_annotation("liqo.io/drained", "true");
  CHECK_FALSE(model::judge_capacity({marked}, {node}));
}

TEST_CASE("the class of Liqo's volumes has to be there where volumes are switched on") {
  const auto settings = [](std::string_view data) {
    return object(R"({"metadata":{"name":"liqo-sharing-policy","namespace":"liqo"},"data":)" + std::string(data) + "}");
  };
  const kube::Object fast = object(R"({"metadata":{"name":"fast"}})");
  const kube::Object usual =
      object(R"({"metadata":{"name":"usual","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}})");
  const kube::Object named = settings(R"({"enable-storage":"true","real-storage-class-name":"fast"})"),
                     unnamed = settings(R"({"enable-storage":"true"})"),
                     off = settings(R"({"enable-storage":"false"})");
  CHECK_FALSE(model::judge_storage(nullptr, {}));
  CHECK_FALSE(model::judge_storage(&off, {}));
  CHECK_FALSE(model::offers_storage(nullptr));
  CHECK_FALSE(model::offers_storage(&off));
  CHECK(model::offers_storage(&named));
  is(model::judge_storage(&named, {fast, usual}).value(), "good", "StorageClass fast is there");
  is(model::judge_storage(&named, {usual}).value(), "bad", "there is no StorageClass fast");
  is(model::judge_storage(&unnamed, {fast, usual}).value(), "good", "usual is the default one");
  is(model::judge_storage(&unnamed, {fast}).value(), "open", "there is no default StorageClass");
}

TEST_CASE("servers of k3s have to ask without tunnels") {
  const auto node = [](const std::string& version, const std::string& arguments) {
    json::object tree{
        {"metadata", json::object{{"name", "n"}, {"annotations", json::object{{"k3s.io/node-args", arguments}}}}},
        {"status", json::object{{"nodeInfo", json::object{{"kubeletVersion", version}}}}}};
    return kube::Object(tree);
  };
  CHECK_FALSE(model::judge_egress_selector({}));
  CHECK_FALSE(model::judge_egress_selector({node("v1.35.0", R"(["server"])")}));
  CHECK_FALSE(model::judge_egress_selector({node("v1.35.0+k3s1", R"(["agent"])")}));
  CHECK_FALSE(model::judge_egress_selector({node("v1.35.0+k3s1", "rubbish")}));
  const auto judged = [&](const std::string& arguments) {
    return model::judge_egress_selector({node("v1.35.0+k3s1", arguments)}).value_or(Finding{.text = "nothing"});
  };
  is(judged(R"(["server"])"), "bad", "--egress-selector-mode=disabled");
  is(judged(R"(["server","--egress-selector-mode","pod"])"), "bad");
  is(judged(R"(["server","--egress-selector-mode","disabled"])"), "good");
  is(judged(R"(["server","--egress-selector-mode=disabled"])"), "good");
}

TEST_CASE("virtual kubelets of the Go version are told, where there are any") {
  CHECK_FALSE(model::judge_virtual_kubelets({}));
  const auto found =
      model::judge_virtual_kubelets({{"liqo-tenant-milan", "vk-milan"}, {"liqo-tenant-asti", "vk-asti"}});
  REQUIRE(found);
  is(*found, "bad", "liqo-tenant-milan/vk-milan");
  is(*found, "bad", "kubectl delete deployments -A -l offloading.liqo.io/component=virtual-kubelet");
}

TEST_CASE("what ails a peer is told with its name") {
  const auto peer = [](const std::string& status, const std::string& message) {
    return object(R"({"metadata":{"name":"m"},"spec":{"clusterID":"milan"},"status":{"role":"Provider","conditions":[
        {"type":"APIServerStatus","status":")" +
                  status + R"(","message":")" + message + R"("}]}})");
  };
  is(model::judge_peers({}).front(), "open");
  is(model::judge_peers({peer("Established", "it answers")}).front(), "good",
     "is a provider of this cluster; nothing is wrong");
  const kube::Object cordoned = object(
      R"({"metadata":{"name":"batch","labels":{"liqo.io/remote-cluster-id":"milan"}},"status":{"conditions":[
      {"type":"Resources","status":"Accepted","reason":"ResourceSliceCordoned"}]}})");
  is(model::judge_peers({peer("Established", "it answers")}, {.slices = {cordoned}}).front(), "open",
     "is a provider of this cluster; slice batch is Cordoned by milan");
  is(model::judge_peers({peer("Error", "it does not answer")}, {.slices = {cordoned}}).front(), "bad");
  kube::Object some = peer("Established", "it answers");
  some.mutable_status()["modules"] =
      json::parse(R"({"offloading":{"enabled":true,"conditions":[{"type":"OffloadingVirtualNodeStatus",
                      "status":"SomeNotReady"}]}})");
  const kube::Object going = object(
      R"({"metadata":{"name":"batch","deletionTimestamp":"2026-11-21T10:00:00Z","labels":{
      "liqo.io/remote-cluster-id":"milan"}}})");
  const kube::Object its_node = object(R"({"metadata":{"name":"batch","labels":{"liqo.io/resourceslice-name":"batch"}},
      "spec":{"clusterID":"milan"}})");
  is(model::judge_peers({some}, {.slices = {}, .tenants = {}, .virtual_nodes = {its_node}}).front(), "bad",
     "SomeNotReady");
  is(model::judge_peers({some}, {.slices = {going}, .tenants = {}, .virtual_nodes = {its_node}}).front(), "open",
     "slice batch is being deleted");
  CHECK(model::judge_peers({peer("Established", "")}).front().about == "peer milan");
  is(model::judge_peers({peer("Error", "it does not answer")}).front(), "bad", "it does not answer");
  is(model::judge_peers({peer("Established", "it answers; its clock is 60 min ahead of ours")}).front(), "bad",
     "its clock is 60 min ahead");
  is(model::judge_peers({peer("Established",
                              "it answers; Liqo of cluster milan has not run since 04:32:41 UTC; it has "
                              "3 orders of yours: ask its operator to start liqod")})
         .front(),
     "bad", "Liqo of cluster milan has not run since 04:32:41 UTC; it has 3 orders of yours");
}

TEST_CASE("a certificate that was not renewed is told before it ends") {
  const auto at = [](const char* time) { return *kube::parse_time(time); };
  const std::vector<model::Certificate> mine{model::Certificate{
      .what = "mine",
      .times = model::Certificate::Times{.from = at("2026-01-01T00:00:00Z"), .until = at("2026-12-31T00:00:00Z")}}};
  const std::vector<model::Certificate> broken{model::Certificate{.what = "mine"}};
  is(model::judge_certificates({}, at("2026-06-01T00:00:00Z")), "open");
  is(model::judge_certificates(mine, at("2026-10-01T00:00:00Z")), "good", "1 is valid, until 2026-12-31");
  is(model::judge_certificates(mine, at("2026-12-01T00:00:00Z")), "bad", "mine expires at 2026-12-31");
  is(model::judge_certificates(mine, at("2027-01-01T00:00:00Z")), "bad", "mine has expired at 2026-12-31");
  is(model::judge_certificates(broken, at("2026-10-01T00:00:00Z")), "bad", "mine cannot be read");
}

TEST_CASE("findings are lines for people and a document for programs") {
  const std::vector<Finding> findings{
      {"clock", State::good, "agrees"}, {"liqod", State::bad, "is not up"}, {"peers", State::open, "none"}};
  CHECK(model::render(findings, {}) == "✔ clock  agrees\n✖ liqod  is not up\n• peers  none\n");
  const auto document = model::document(findings);
  CHECK_FALSE(document.at("passed").as_bool());
  CHECK(document.at("checks").as_array().at(1) == json::parse(R"({"about":"liqod","state":"bad","text":"is not up"})"));
  CHECK(model::all_well({findings.front(), findings.back()}));
}

}  // namespace
