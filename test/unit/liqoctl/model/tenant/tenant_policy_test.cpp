#include "model/tenant/tenant_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "model/get/listing.hpp"

using namespace liqoctl::model;
namespace json = kube::json;

namespace {

std::string changed(std::string_view policy, const PolicyChange& change) {
  const auto done = change_policy(policy, change);
  return done ? done->text() : done.error().text();
}

kube::Object object_of(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object tenant(std::string_view name, std::string_view ns, std::string_view cluster) {
  return kube::Object(json::object{{"metadata", json::object{{"name", name}, {"namespace", ns}}},
                                   {"spec", json::object{{"clusterID", cluster}}}});
}

kube::Object tenant_namespace(std::string_view name, std::string_view peer, std::string_view policy = "") {
  kube::Object ns(json::object{{"metadata", json::object{{"name", name}}}});
  ns.set_label("liqo.io/tenant-namespace", "true");
  if (!peer.empty()) ns.set_label("liqo.io/remote-cluster-id", peer);
  if (!policy.empty()) ns.set_annotation("liqo.io/pod-policy", policy);
  return ns;
}

}  // namespace

TEST_CASE("what is named changes, and the rest of the policy stays") {
  struct Row {
    std::string_view before;
    PolicyChange change;
    std::string_view after;
  };
  const Row rows[] = {
      {"", {.max = {"cpu=3,memory=8Gi"}}, R"({"maxResources":{"cpu":"3","memory":"8Gi"}})"},
      {R"({"hostPorts":true,"maxResources":{"cpu":"2","pods":"9"}})",
       {.max = {"cpu=3"}},
       R"({"hostPorts":true,"maxResources":{"cpu":"3","pods":"9"}})"},
      {R"({"maxResources":{"cpu":"2","pods":"9"}})",
       {.unset = {"maxResources"}, .max = {"cpu=3"}},
       R"({"maxResources":{"cpu":"3"}})"},
      {"", {.max_slice = {"nvidia.com/gpu=0"}}, R"({"maxSliceResources":{"nvidia.com/gpu":"0"}})"},
      {"",
       {.allow = {"hostPorts", "capabilities=NET_ADMIN,SYS_PTRACE", "maxObjects=9"}},
       R"({"hostPorts":true,"capabilities":["NET_ADMIN","SYS_PTRACE"],"maxObjects":9})"},
      {R"({"capabilities":["NET_ADMIN"]})", {.allow = {"capabilities=NET_ADMIN"}}, R"({"capabilities":["NET_ADMIN"]})"},
      {R"({"capabilities":["NET_ADMIN","SYS_PTRACE"],"hostPorts":true})",
       {.forbid = {"capabilities=NET_ADMIN", "hostPorts"}},
       R"({"capabilities":["SYS_PTRACE"],"hostPorts":false})"},
      {"",
       {.allow = {"strictMetadata=true"}, .forbid = {"refusedServiceTypes"}},
       R"({"strictMetadata":true,"refusedServiceTypes":["*"]})"},
      {R"({"refusedServiceTypes":["LoadBalancer","NodePort"],"strictMetadata":true})",
       {.allow = {"refusedServiceTypes=NodePort", "strictMetadata=false"}},
       R"({"refusedServiceTypes":["LoadBalancer"],"strictMetadata":false})"},
      {"", {.forbid = {"endpointCIDRs"}}, R"({"endpointCIDRs":[]})"},
      {"",
       {.allow = {"priorityClasses=high=tenants-high,*=tenants"}},
       R"({"priorityClasses":{"high":"tenants-high","*":"tenants"}})"},
      {"", {.max = {"hugepages-2Mi=4Mi,storage=9Gi"}}, R"({"maxResources":{"hugepages-2Mi":"4Mi","storage":"9Gi"}})"},
      {R"({"priorityClasses":{"high":"a","*":"b"}})",
       {.forbid = {"priorityClasses=high"}},
       R"({"priorityClasses":{"*":"b"}})"},
      {R"({"priorityClasses":{"high":"a"}})", {.forbid = {"priorityClasses"}}, R"({"priorityClasses":{}})"},
      {R"({"capabilities":["A"]})",
       {.allow = {"capabilities=B"}, .forbid = {"capabilities=A"}},
       R"({"capabilities":["B"]})"},
      {"", {.allow = {"twinQuota=count/secrets=50"}}, R"({"twinQuota":{"count/secrets":"50"}})"},
      {"", {.allow = {"disruptionBudgets=maxBlock=10m"}}, R"({"disruptionBudgets":{"maxBlock":"10m"}})"},
      {R"({"disruptionBudgets":{"maxBlock":"10m"}})", {.unset = {"disruptionBudgets"}}, ""},
      {R"({"hostPorts":true})", {.unset = {"hostPorts"}}, ""},
      {R"({"maxResources":{"cpu":"2","pods":"9"}})",
       {.unset = {"maxResources=cpu"}},
       R"({"maxResources":{"pods":"9"}})"},
      {R"({"maxResources":{"cpu":"2","pods":"9"}})", {.unset = {"maxResources=cpu,pods"}}, ""},
      {R"({"priorityClasses":{"a":"b","c":"d"}})",
       {.unset = {"priorityClasses=a"}},
       R"({"priorityClasses":{"c":"d"}})"},
      {R"({"maxResorces":{"cpu":"3"}})",
       {.unset = {"maxResorces"}, .max = {"cpu=3"}},
       R"({"maxResources":{"cpu":"3"}})"},
      {R"({"keyOfANewerLiqo":[{"a":1}]})",
       {.max = {"cpu=3"}},
       R"({"keyOfANewerLiqo":[{"a":1}],"maxResources":{"cpu":"3"}})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before);
    CAPTURE(row.after);
    CHECK(changed(row.before, row.change) == row.after);
  }
}

TEST_CASE("a list that is new keeps the consumer's default names, and says what it takes away") {
  const auto allowing = [](std::string_view stored, std::string key) {
    return change_policy(stored, {.allow = {std::move(key)}, .consumer = "rome"}).value();
  };
  CHECK(allowing("", "twinNames=shop").text() == R"({"twinNames":["*-rome","shop"]})");
  CHECK(allowing("", "twinNames=*-rome,shop").text() == R"({"twinNames":["*-rome","shop"]})");
  CHECK(allowing(R"({"twinNames":["a"]})", "twinNames=shop").text() == R"({"twinNames":["a","shop"]})");
  CHECK(allowing("", "ingressHosts=a.example.com").narrowed ==
        std::vector<std::string>{"ingressHosts: only what it names from now on; before: any host (--unset ingressHosts "
                                 "goes back to that)"});
  for (const char* key :
       {"twinNames=a", "storageClasses=a", "ingressClasses=a", "loadBalancerClasses=a", "endpointCIDRs=10.0.0.0/8"}) {
    CAPTURE(key);
    CHECK(allowing("", key).narrowed.size() == 1);
  }
  CHECK(allowing(R"({"ingressHosts":["b"]})", "ingressHosts=a").narrowed.empty());
  CHECK(allowing("", "ingressHosts=*").narrowed.empty());
  CHECK(allowing("", "capabilities=NET_ADMIN").narrowed.empty());
}

TEST_CASE("a key of another version is kept, and told") {
  const auto done = change_policy(R"({"weather":1})", {.allow = {"hostPorts"}}).value();
  CHECK(done.unknown == std::vector<std::string>{"\"weather\""});
}

TEST_CASE("a misspelt key that is stored is refused with the flag that takes it away, before anything is written") {
  const std::string_view stored = R"({"maxResorces":{"cpu":"3"},"weather":1})";
  CHECK(changed(stored, {.max = {"cpu=3"}}) ==
        "the policy that is stored cannot be read: \"maxResorces\" is not a key of it; did you mean maxResources? add "
        "--unset maxResorces");
  CHECK(changed(stored, {.unset = {"maxResorces"}, .max = {"cpu=3"}}) == R"({"weather":1,"maxResources":{"cpu":"3"}})");
  CHECK(changed(R"({"max Resources":1})", {.max = {"cpu=3"}}).ends_with("add --replace, which keeps nothing of it"));
}

TEST_CASE("what is wrong is refused in one short line") {
  struct Row {
    PolicyChange change;
    std::string_view says;
  };
  const std::string large(300'000, 'x');
  const Row rows[] = {
      {{.max = {"cpu=-1"}}, "--max cpu: '-1' is not a valid quantity"},
      {{.max = {"cpus=3"}}, "--max: \"cpus\" is the name of no resource; did you mean cpu?"},
      {{.max = {"CPU=3"}}, "did you mean cpu?"},
      {{.max_slice = {"mem=8Gi"}}, "--max-slice: \"mem\" is the name of no resource; did you mean memory?"},
      {{.allow = {"maxResources=gpu=1"}},
       "--allow maxResources: \"gpu\" is the name of no resource: there are cpu, memory, pods, ephemeral-storage, "
       "storage, hugepages-SIZE, and names with a domain such as nvidia.com/gpu"},
      {{.max = {large + "=3"}}, "is the name of no resource"},
      {{.max = {"cpu"}}, "--max: 'cpu' is not name=amount"},
      {{.max = {""}}, "say how much of which resource"},
      {{.max = {"memory=8"}}, "without a unit it is in bytes"},
      {{.max = {"cpu=" + large}}, "is not a valid quantity"},
      {{.allow = {"hostPort"}}, "--allow: \"hostPort\" is no key of a policy; did you mean hostPorts?"},
      {{.allow = {"hostPorts=yes"}}, "--allow hostPorts takes no value"},
      {{.allow = {"alwaysPullImages"}},
       "--allow alwaysPullImages: it forbids something when it is true: --allow alwaysPullImages=true switches it on, "
       "--allow alwaysPullImages=false off"},
      {{.allow = {"strictMetadata=yes"}}, "--allow strictMetadata=true switches it on"},
      {{.forbid = {"strictMetadata"}}, "--forbid strictMetadata: it forbids something when it is true"},
      {{.forbid = {"strictMetadata=true"}}, "--allow strictMetadata=true switches it on"},
      {{.allow = {"capabilities"}}, "--allow capabilities: name what is meant: capabilities=NAME,..."},
      {{.allow = {"maxObjects=-1"}}, "--allow maxObjects takes a number, 0 or more: maxObjects=NUMBER"},
      {{.allow = {"endpointCIDRs=home"}}, "the policy could not be read: \"endpointCIDRs\" must be a list of ranges"},
      {{.allow = {"capabilities=" + large}}, "and no more than 16384 are read"},
      {{.allow = {large}}, "is no key of a policy"},
      {{.allow = {"hostPorts"}, .forbid = {"hostPorts"}}, "hostPorts cannot be both allowed and forbidden"},
      {{.allow = {"capabilities=A,B"}, .forbid = {"capabilities=C,B"}},
       "capabilities=B cannot be both allowed and forbidden"},
      {{.allow = {"capabilities=A"}, .forbid = {"capabilities"}}, "capabilities cannot be both allowed and forbidden"},
      {{.allow = {"priorityClasses=high=a"}, .forbid = {"priorityClasses=high"}},
       "priorityClasses=high cannot be both allowed and forbidden"},
      {{.forbid = {"maxObjects"}}, "--allow maxObjects=... sets it"},
      {{.forbid = {"capabilities=NET_ADMIN"}}, "the policy does not name \"NET_ADMIN\" there"},
      {{.forbid = {"refusedServiceTypes=NodePort,Loadbalancer"}},
       "--forbid refusedServiceTypes: \"Loadbalancer\" is no type of Service that can be refused; did you mean "
       "LoadBalancer?"},
      {{.max = {"cpu=3,cpu=4"}}, "--max: cpu is given twice"},
      {{.max_slice = {"cpu=3", "memory=8Gi,cpu=4"}}, "--max-slice: cpu is given twice"},
      {{.allow = {"twinQuota=count/secrets=5,count/secrets=6"}}, "--allow twinQuota: count/secrets is given twice"},
      {{.unset = {"maxResorces"}}, "did you mean maxResources?"},
      {{.allow = {"disruptionBudgets"}}, "disruptionBudgets=maxBlock=10m: a time from 10s to 1h"},
      {{.allow = {"disruptionBudgets=maxBlock=2h"}}, "a time from 10s to 1h"},
      {{.allow = {"disruptionBudgets=minBlock=10m"}}, "a time from 10s to 1h"},
      {{.forbid = {"disruptionBudgets"}}, "--unset disruptionBudgets takes it away"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    // Flags that are wrong for any stored policy are refused before the first request; both refuse alike.
    const auto checked = check_change(row.change);
    const std::string told = checked ? changed("", row.change) : checked.error().text();
    CAPTURE(told.substr(0, 400));
    CHECK(told.contains(row.says));
    CHECK(told.size() < 500);
    CHECK_FALSE(told.contains('\n'));
  }
}

TEST_CASE("flags are judged without what is stored, as far as they can be") {
  const auto mistake = [](const PolicyChange& change) {
    const auto checked = check_change(change);
    return checked ? std::string() : checked.error().text();
  };
  CHECK(mistake({.max = {"cpu=3", "memory=8Gi"}, .max_slice = {"cpu=3"}}) == "");
  CHECK(mistake({.allow = {"refusedServiceTypes=Loadbalancer"}}) == "");
  CHECK(mistake({.allow = {"priorityClasses=a", "priorityClasses=b=c"}}) == "");
  CHECK(mistake({.forbid = {"capabilities=NET_ADMIN", "endpointCIDRs", "refusedServiceTypes", "hostPorts"}}) == "");
  CHECK(mistake({.unset = {"keyOfANewerLiqo"}}) == "");
  CHECK(mistake({.max = {"cpu=-1"}}).starts_with("--max cpu: "));
  CHECK(mistake({.max = {"abc"}}).starts_with("--max: 'abc' is not name=amount"));
  CHECK(mistake({.allow = {"foo"}}).starts_with("--allow: \"foo\" is no key of a policy"));
  CHECK(mistake({.forbid = {"foo"}}).starts_with("--forbid: \"foo\" is no key of a policy"));
  CHECK(mistake({.forbid = {"maxObjects"}}).contains("is a bound"));
}

TEST_CASE("a peer that only provides is bound by no policy") {
  const auto refusal = [](std::string_view role, bool has_tenant, bool has_user) {
    kube::Object peer(json::object{{"status", json::object{{"role", role}}}});
    const auto checked =
        check_is_consumer("milan", {.peer = std::move(peer), .has_tenant = has_tenant, .has_user = has_user});
    return checked ? std::string() : checked.error().text();
  };
  CHECK(refusal("Provider", false, false) ==
        "milan is a provider of this cluster, not a consumer: a policy here would limit nothing; the operator of milan "
        "sets limits there");
  CHECK(refusal("Provider", true, false) == "");
  CHECK(refusal("Provider", false, true) == "");
  CHECK(refusal("ConsumerAndProvider", false, false) == "");
  CHECK(refusal("Unknown", false, false) == "");
  CHECK(check_is_consumer("milan", {}));
}

TEST_CASE("--unset takes away what is there, and nothing more") {
  const std::string_view stored = R"({"maxResources":{"cpu":"2"},"capabilities":["NET_ADMIN"],"hostPorts":true})";
  CHECK(changed(stored, {.unset = {"maxResources=pods"}}).contains("the policy does not name \"pods\" there"));
  CHECK(changed(stored, {.unset = {"maxResources="}}).contains("name what is to go: maxResources=NAME,..."));
  CHECK(changed(stored, {.unset = {"capabilities=NET_ADMIN"}}).contains("--forbid capabilities=NAME takes a name off"));
  CHECK(changed(stored, {.unset = {"hostPorts=true"}}).contains("takes the whole key away"));
}

TEST_CASE("a class that a map does not name cannot be taken off it") {
  CHECK(changed(R"({"priorityClasses":{"high":"a"}})", {.forbid = {"priorityClasses=low"}})
            .contains("the policy does not name \"low\" there"));
}

TEST_CASE("a policy that is stored and cannot be changed key by key says why") {
  const auto mistake = [](std::string_view stored) {
    const auto done = change_policy(stored, {.allow = {"hostPorts"}});
    return done ? std::string("taken") : std::string(to_string(done.error().code())) + ": " + done.error().text();
  };
  CHECK(mistake("hostPorts: true").starts_with("parse: "));
  CHECK(mistake("[]") == "parse: it is not a JSON object");
  CHECK(mistake(std::string(300'000, '{')) == "parse: it is larger than 16 KiB");
  CHECK(mistake(R"({"nodeName":1})") ==
        "invalid_input: the policy could not be read: \"nodeName\" must be true or false: correct it, or take that key "
        "away with --unset");
}

TEST_CASE("a policy is replaced as a whole, also one that cannot be read, which is shown") {
  const std::string stored = "{maxResources: 3}\x1b" + std::string(300'000, 'x');
  const auto done = change_policy(stored, {.max = {"cpu=3"}, .replace = true}).value();
  CHECK(done.text() == R"({"maxResources":{"cpu":"3"}})");
  CHECK(done.unreadable.starts_with("{maxResources: 3}?x"));
  CHECK(done.unreadable.ends_with("x…"));
  CHECK(done.unreadable.size() < 400);
  CHECK_FALSE(done.is_unlimited());

  const auto nothing = change_policy("[]", {.replace = true}).value();
  CHECK(nothing.text() == "");
  CHECK(nothing.changes());
  CHECK(nothing.is_unlimited());

  const auto readable = change_policy(R"({"hostPorts":true,"weather":1})", {.max = {"cpu=3"}, .replace = true}).value();
  CHECK(readable.text() == R"({"maxResources":{"cpu":"3"}})");
  CHECK(readable.unreadable == "");
  CHECK(policy_diff(readable) == "  - hostPorts: true\n  - weather: 1\n  + maxResources: cpu 3\n");
  CHECK_FALSE(change_policy("", {.replace = true}).value().changes());
}

TEST_CASE("the difference names each key once, and what it becomes") {
  const auto done = change_policy(R"({"hostPorts":true,"maxResources":{"memory":"8Gi","cpu":"2"},"nodeName":true})",
                                  {.unset = {"nodeName"}, .max = {"cpu=3"}, .allow = {"sysctls=a,b"}})
                        .value();
  CHECK(policy_diff(done) ==
        "    hostPorts: true\n"
        "  - maxResources: cpu 2, memory 8Gi\n"
        "  + maxResources: cpu 3, memory 8Gi\n"
        "  - nodeName: true\n"
        "  + sysctls: a, b\n");
}

TEST_CASE("of a list that changes the difference names what goes and what comes, however long it is") {
  json::array many;
  for (int i = 0; i < 500; ++i) many.emplace_back("CAP_" + std::to_string(1000 + i));
  const std::string stored = json::serialize(json::object{{"capabilities", std::move(many)}});
  const auto done = change_policy(stored, {.allow = {"capabilities=NEW"}, .forbid = {"capabilities=CAP_1499"}}).value();
  const std::string diff = policy_diff(done);
  CHECK(diff.contains("\n  - capabilities: CAP_1499\n  + capabilities: NEW\n"));
  CHECK(diff.starts_with("    capabilities: CAP_1000, CAP_1001, "));
  CHECK(diff.contains("…\n"));
  CHECK(policy_fields(done.before).front().second.ends_with(", CAP_1499"));
  const auto emptied = change_policy(R"({"sysctls":["a"]})", {.forbid = {"sysctls"}}).value();
  CHECK(policy_diff(emptied) == "  - sysctls: a\n  + sysctls: none\n");
  const auto filled = change_policy(R"({"sysctls":[]})", {.allow = {"sysctls=a"}}).value();
  CHECK(policy_diff(filled) == "  - sysctls: none\n  + sysctls: a\n");
}

TEST_CASE("a policy in one line") {
  CHECK(policy_in_words("", 60) == "default");
  CHECK(policy_in_words("{}", 60) == "default");
  CHECK(policy_in_words(R"({"maxResources":{"cpu":"3"},"hostPorts":true})", 60) == "maxResources (cpu 3), hostPorts");
  CHECK(policy_in_words(R"({"maxResources":{"cpu":"3"},"hostPorts":true})", 20) == "maxResources (cpu 3)…");
  CHECK(policy_in_words(R"({"maxResorces":{}})", 20) == "✖ \"maxResorces\" is…");
  CHECK(policy_in_words(R"({"maxResorces":{}})", 80) ==
        "✖ \"maxResorces\" is not a key of it; did you mean maxResources?");
}

TEST_CASE("a consumer that has no tenant namespace here is told with the nearest one") {
  const std::vector<kube::Object> namespaces{tenant_namespace("liqo-tenant-rome", "rome"),
                                             object_of(R"({"metadata":{"name":"x","labels":
      {"liqo.io/tenant-namespace":"false","liqo.io/remote-cluster-id":"berlins"}}})")};
  CHECK(unknown_consumer("rom", namespaces) == "there is no tenant namespace of cluster rom here; did you mean rome?");
  CHECK(unknown_consumer("berlin", namespaces) ==
        "there is no tenant namespace of cluster berlin here (liqoctl get tenant lists the consumers)");
  CHECK(unknown_consumer(std::string(100'000, 'x'), namespaces).size() < 300);
}

TEST_CASE("the namespace of a consumer is the one that names its cluster") {
  CHECK(check_tenant_namespace("rome", tenant_namespace("liqo-tenant-rome", "rome")));
  CHECK(check_tenant_namespace("rome", tenant_namespace("liqo-tenant-rome", "rome-2")).error().text() ==
        "namespace liqo-tenant-rome is that of cluster rome-2 by its label liqo.io/remote-cluster-id, not of rome");
  CHECK(check_tenant_namespace("rome", tenant_namespace("liqo-tenant-rome", "")).error().text().contains("no cluster"));
  CHECK(check_tenant_namespace("rome", object_of(R"({"metadata":{"name":"demo"}})")).error().text() ==
        "namespace demo is no tenant namespace: it lacks the label liqo.io/tenant-namespace=true");
}

TEST_CASE("a Tenant shows the policy of its own namespace") {
  std::vector<kube::Object> tenants{tenant("rome", "liqo-tenant-rome", "rome"), tenant("paris", "x", "paris")};
  // A policy on the Tenant itself has no effect.
  for (kube::Object& one : tenants) one.set_annotation("liqo.io/pod-policy", R"({"privileged":true})");
  add_policies(tenants, {tenant_namespace("liqo-tenant-rome", "rome", R"({"hostPorts":true})"),
                         tenant_namespace("x", "rome", R"({"nodeName":true})")});
  CHECK(tenants[0].annotation("liqo.io/pod-policy") == R"({"hostPorts":true})");
  CHECK_FALSE(tenants[1].has_annotation("liqo.io/pod-policy"));
}

TEST_CASE("check looks at the policies that there are") {
  CHECK_FALSE(judge_policies({}));
  CHECK_FALSE(judge_policies({tenant_namespace("a", "rome")}));
  const auto well = judge_policies({tenant_namespace("a", "rome", "{}"), tenant_namespace("b", "paris", "{}")});
  REQUIRE(well);
  CHECK(well->state == State::good);
  CHECK(well->text == "2 are set, and all can be read");
  CHECK(judge_policies({tenant_namespace("a", "rome", "{}")}).value().text == "1 is set, and it can be read");
  const auto wrong =
      judge_policies({tenant_namespace("a", "rome", R"({"maxResorces":{}})"),
                      tenant_namespace("b", "paris", "maxResources=3"), tenant_namespace("c", "", "[]")});
  REQUIRE(wrong);
  CHECK(wrong->state == State::bad);
  CHECK(wrong->text.starts_with(
      "nothing new of a consumer is admitted whose policy cannot be read: that of rome "
      "(\"maxResorces\" is not a key of "
      "it; did you mean maxResources?): liqoctl set tenant rome --unset maxResorces mends it, that of paris ("));
  CHECK(wrong->text.contains("): liqoctl set tenant paris --replace writes it anew"));
  CHECK(wrong->text.contains(
      "that of namespace c (it is not a JSON object): label it with liqo.io/remote-cluster-id=ID"));
  CHECK_FALSE(wrong->text.contains("set tenant  "));
}

TEST_CASE("Tenants are listed and described with their policies, readable or not") {
  const auto& kinds = listed_kinds();
  const auto kind = std::ranges::find(kinds, std::string("tenant"), &ListedKind::name);
  REQUIRE(kind != kinds.end());
  std::vector<kube::Object> tenants{tenant("rome", "a", "rome"), tenant("paris", "b", "paris"),
                                    tenant("turin", "c", "turin"), tenant("milan", "d", "milan")};
  add_policies(tenants, {tenant_namespace("a", "rome", R"({"maxResources":{"cpu":"3"}})"),
                         tenant_namespace("b", "paris", R"({"maxResorces":{}})"), tenant_namespace("c", "turin")});
  const std::string table = listing(*kind, tenants, false, {});
  CHECK(table.contains("maxResources (cpu 3)"));
  CHECK(table.contains("✖ \"maxResorces\" is not a key of it"));
  CHECK(table.contains("default"));
  CHECK(table.contains("?"));
  const auto described = [](kube::Object one) {
    one.set_kind(liqo::api::kinds::tenants);
    return description(one, {}, {}, liqoctl::text::Palette{});
  };
  CHECK(described(tenants[0]).contains("maxResources: "));
  CHECK(described(tenants[0]).contains("cpu 3"));
  CHECK_FALSE(described(tenants[0]).contains("liqo.io/pod-policy"));
  CHECK(described(tenants[1])
            .contains("✖  cannot be read, so nothing new is admitted: \"maxResorces\" is not a key of it; did you mean "
                      "maxResources?"));
  CHECK(described(tenants[2]).contains("default"));
  CHECK(described(tenants[3]).contains("unknown: its namespace"));
}
