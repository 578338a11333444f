// Class "share": what is free, which part of it is granted, and the settings of the provider.
#include "core/slices/share.hpp"

#include <random>

#include "../objects.hpp"
#include "core/slices/inventory.hpp"
#include "core/slices/policy.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

Resources amounts(std::string_view text) {
  auto read = read_resources(parse_value(text).get_object());
  REQUIRE(read.has_value());
  return *read;
}
std::string text(const Resources& resources) { return json::serialize(write_resources(resources)); }

kube::Object node(std::string_view allocatable, std::string_view spec = "{}", std::string_view ready = "True",
                  std::string_view labels = "{}") {
  return parse(R"({"metadata": {"name": "n", "labels": )" + std::string(labels) + R"(}, "spec": )" + std::string(spec) +
               R"(, "status": {"allocatable": )" + std::string(allocatable) +
               R"(, "conditions": [{"type": "Ready", "status": ")" + std::string(ready) + R"("}]}})");
}

kube::Object pod(std::string_view requests, std::string_view node_name = "n1", std::string_view phase = "Running",
                 bool offloaded = false) {
  return parse(R"({"metadata": {"name": "p", "labels": )" +
               std::string(offloaded ? R"({"liqo.io/managed-by": "shadowpod"})" : "{}") +
               R"(}, "spec": {"nodeName": ")" + std::string(node_name) +
               R"(", "containers": [{"name": "c", "resources": {"requests": )" + std::string(requests) +
               R"(}}]}, "status": {"phase": ")" + std::string(phase) + R"("}})");
}

kube::Quantity cpu(const Resources& resources) { return amount(resources, "cpu"); }
kube::Quantity quantity(std::string_view text) { return *kube::Quantity::parse(text); }

}  // namespace

TEST_CASE("a share is rounded as each resource allows") {
  struct Row {
    std::string_view free;
    int percentage;
    std::string_view share;
  };
  for (const Row& row : {
           Row{R"({"cpu": "100"})", 90, R"({"cpu":"90"})"},
           Row{R"({"cpu": "50"})", 90, R"({"cpu":"45"})"},
           Row{R"({"cpu": "200"})", 90, R"({"cpu":"180"})"},
           Row{R"({"cpu": "1"})", 33, R"({"cpu":"330m"})"},
           Row{R"({"cpu": "1m"})", 90, R"({"cpu":"0"})"},
           Row{R"({"cpu": "1999u"})", 100, R"({"cpu":"1m"})"},
           Row{R"({"memory": "10Gi"})", 90, R"({"memory":"9Gi"})"},
           Row{R"({"memory": "1Gi"})", 90, R"({"memory":"921Mi"})"},
           Row{R"({"memory": "1Mi"})", 90, R"({"memory":"0"})"},
           Row{R"({"ephemeral-storage": "1Gi"})", 50, R"({"ephemeral-storage":"512Mi"})"},
           Row{R"({"pods": "110"})", 90, R"({"pods":"99"})"},
           Row{R"({"pods": "5"})", 90, R"({"pods":"5"})"},
           Row{R"({"pods": "4"})", 90, R"({"pods":"4"})"},
           Row{R"({"pods": "0"})", 90, R"({"pods":"0"})"},
           Row{R"({"nvidia.com/gpu": "1"})", 90, R"({"nvidia.com/gpu":"1"})"},
           Row{R"({"nvidia.com/gpu": "1"})", 1, R"({"nvidia.com/gpu":"1"})"},
           Row{R"({"nvidia.com/gpu": "0"})", 90, R"({"nvidia.com/gpu":"0"})"},
           Row{R"({"nvidia.com/gpu": "3"})", 50, R"({"nvidia.com/gpu":"2"})"},
           Row{R"({"nvidia.com/gpu": "10"})", 14, R"({"nvidia.com/gpu":"1"})"},
           Row{R"({"nvidia.com/gpu": "10"})", 15, R"({"nvidia.com/gpu":"2"})"},
           Row{R"({"hugepages-2Mi": "10Mi"})", 90, R"({"hugepages-2Mi":"8Mi"})"},
           Row{R"({"hugepages-odd": "10Mi"})", 90, R"({"hugepages-odd":"0"})"},
           Row{R"({"attachable-volumes-aws-ebs": "25"})", 90, "{}"},
           Row{R"({"memory": "9223372036854775807"})", 100, R"({"memory":"8796093022207Mi"})"},
       }) {
    CAPTURE(row.free);
    CHECK(text(share_of(amounts(row.free), row.percentage, {})) == row.share);
  }
}

TEST_CASE("what a request names bounds the share, and what the cluster does not have is granted as none") {
  const Resources free = amounts(R"({"cpu": "100", "memory": "10Gi", "pods": "110"})");
  CHECK(text(share_of(free, 90, amounts(R"({"cpu": "10", "memory": "100Gi", "nvidia.com/gpu": "2"})"))) ==
        R"({"cpu":"10","memory":"9Gi","nvidia.com/gpu":"0","pods":"99"})");
}

TEST_CASE("several slices of one consumer divide its share") {
  const Resources free = amounts(R"({"cpu": "100", "memory": "10Gi", "nvidia.com/gpu": "1", "pods": "110"})");
  CHECK(text(share_of(free, 90, {}, 2)) == R"({"cpu":"45","memory":"4608Mi","nvidia.com/gpu":"0","pods":"49"})");
  CHECK(text(share_of(free, 90, {}, 1)) == R"({"cpu":"90","memory":"9Gi","nvidia.com/gpu":"1","pods":"99"})");
}

TEST_CASE("a grant follows at once only where an amount changes by more than five percent") {
  const kube::TimePoint now{1h};
  struct Row {
    std::string_view granted, target;
    bool at_once;
  };
  for (const Row& row :
       {Row{R"({"cpu": "100"})", R"({"cpu": "106"})", true}, Row{R"({"cpu": "100"})", R"({"cpu": "105"})", false},
        Row{R"({"cpu": "100"})", R"({"cpu": "95"})", false}, Row{R"({"cpu": "100"})", R"({"cpu": "94999m"})", true},
        Row{R"({"cpu": "100"})", R"({"cpu": "100", "x.io/y": "1"})", true},
        Row{R"({"cpu": "100"})", R"({"cpu": "100", "x.io/y": "0"})", false},
        Row{R"({"cpu": "100", "x.io/y": "1"})", R"({"cpu": "100"})", true},
        Row{R"({"cpu": "0"})", R"({"cpu": "1m"})", true}}) {
    CAPTURE(row.granted);
    CAPTURE(row.target);
    const auto step = settle_share(amounts(row.granted), amounts(row.target), {}, now);
    CHECK((step.granted == amounts(row.target)) == row.at_once);
    CHECK(step.pending.has_value() == !row.at_once);
    CHECK((step.again_after == 10s) == !row.at_once);
  }
}

TEST_CASE("quiet starts anew with every change, and ends when the share is as granted") {
  const kube::TimePoint start{1h};
  const Resources granted = amounts(R"({"cpu": "100"})");
  auto step = settle_share(granted, amounts(R"({"cpu": "101"})"), {}, start);
  step = settle_share(granted, amounts(R"({"cpu": "102"})"), step.pending, start + 9s);
  CHECK(step.again_after == 10s);
  step = settle_share(granted, amounts(R"({"cpu": "102"})"), step.pending, start + 18s);
  CHECK(step.granted == granted);
  CHECK(step.again_after == 1s);
  CHECK(settle_share(granted, amounts(R"({"cpu": "102"})"), step.pending, start + 19s).granted ==
        amounts(R"({"cpu": "102"})"));
  step = settle_share(granted, granted, step.pending, start + 18s);
  CHECK_FALSE(step.pending.has_value());
  CHECK(step.again_after == 0s);
}

TEST_CASE("free is what shared nodes have less what others' pods request there") {
  Inventory inventory;
  const auto hundred = node(R"({"cpu": "100", "pods": "10", "nvidia.com/gpu": "1"})");
  inventory.set_node("n1", &hundred);
  CHECK(cpu(inventory.free_for("rome")) == quantity("100"));
  const auto fifty = pod(R"({"cpu": "50"})");
  inventory.set_pod({"shop", "own"}, &fifty);
  CHECK(cpu(inventory.free_for("rome")) == quantity("50"));
  CHECK(amount(inventory.free_for("rome"), "pods") == quantity("9"));

  inventory.set_namespace("shop-rome", "rome");
  inventory.set_namespace("shop-turin", "turin");
  const auto offloaded = pod(R"({"cpu": "10", "x.io/unknown": "3"})", "n1", "Running", true);
  inventory.set_pod({"shop-rome", "a"}, &offloaded);
  inventory.set_pod({"shop-turin", "a"}, &offloaded);
  inventory.set_pod({"nobodys", "a"}, &offloaded);
  CHECK(cpu(inventory.free_for("rome")) == quantity("30"));
  CHECK(cpu(inventory.free_for("turin")) == quantity("30"));
  CHECK(cpu(inventory.free_for("milan")) == quantity("20"));
  CHECK_FALSE(inventory.free_for("milan").contains("x.io/unknown"));
  const auto local = pod(R"({"cpu": "5"})");
  inventory.set_pod({"shop-rome", "somebody else's"}, &local);
  CHECK(cpu(inventory.free_for("rome")) == quantity("25"));

  for (const std::string_view phase : {"Succeeded", "Failed"}) {
    const auto finished = pod(R"({"cpu": "50"})", "n1", phase);
    inventory.set_pod({"shop", "own"}, &finished);
    CHECK(cpu(inventory.free_for("rome")) == quantity("75"));
  }
  inventory.set_pod({"shop-rome", "a"}, nullptr);
  inventory.set_pod({"shop-rome", "somebody else's"}, nullptr);
  CHECK(cpu(inventory.free_for("rome")) == quantity("80"));
  inventory.set_namespace("shop-turin", "");
  CHECK(cpu(inventory.free_for("turin")) == quantity("80"));
}

TEST_CASE("what is free is right after any changes, as if it were counted anew") {
  std::mt19937 random(7);
  const auto any = [&random](int below) { return int(random() % unsigned(below)); };
  Inventory inventory;
  std::map<std::string, kube::Object> nodes;
  std::map<kube::ObjectKey, kube::Object> pods;
  std::map<std::string, std::string> owners;
  const auto set = [](auto& map, const auto& key, std::optional<kube::Object> value, const auto& tell) {
    tell(key, value ? &*value : nullptr);
    map.erase(key);
    if (value) map.emplace(key, std::move(*value));
  };
  for (int step = 0; step < 2000; ++step) {
    const std::string node_name = "n" + std::to_string(any(4));
    const std::string ns = "ns" + std::to_string(any(5));
    if (const int what = any(10); what < 2) {
      auto made = node(R"({"cpu": ")" + std::to_string(any(3) * 10) + R"(", "pods": "5")" +
                           (any(2) ? R"(, "x.io/y": "9223372036854775807")" : "") + "}",
                       any(4) ? "{}" : R"({"unschedulable": true})");
      set(nodes, node_name, any(4) ? std::optional(std::move(made)) : std::nullopt,
          [&](const auto& key, const auto* now) { inventory.set_node(key, now); });
    } else if (what < 4) {
      const std::string owner = any(3) ? "c" + std::to_string(any(2)) : "";
      inventory.set_namespace(ns, owner);
      owners[ns] = owner;
    } else {
      // One amount is at the bound of what a quantity holds: what is added to it has to come back.
      auto made = pod(R"({"cpu": ")" + std::to_string(any(4)) + R"(", "x.io/y": ")" +
                          (any(3) ? "1" : "9223372036854775807") + R"("})",
                      node_name, any(5) ? "Running" : "Failed", any(2) == 0);
      set(pods, kube::ObjectKey{ns, "p" + std::to_string(any(6))},
          any(3) ? std::optional(std::move(made)) : std::nullopt,
          [&](const auto& key, const auto* now) { inventory.set_pod(key, now); });
    }
    Inventory anew;
    for (const auto& [name, owner] : owners) anew.set_namespace(name, owner);
    for (const auto& [key, one] : pods) anew.set_pod(key, &one);
    for (const auto& [name, one] : nodes) anew.set_node(name, &one);
    for (const std::string_view consumer : {"c0", "c1", "nobody"}) {
      CAPTURE(step);
      REQUIRE(text(inventory.free_for(consumer)) == text(anew.free_for(consumer)));
    }
  }
}

TEST_CASE("only nodes that are ready, open and real are shared, with the pods on them") {
  for (const auto& [spec, ready, labels, shared] :
       std::initializer_list<std::tuple<std::string_view, std::string_view, std::string_view, bool>>{
           {"{}", "True", "{}", true},
           {"{}", "False", "{}", false},
           {"{}", "Unknown", "{}", false},
           {R"({"unschedulable": true})", "True", "{}", false},
           {R"({"unschedulable": false})", "True", "{}", true},
           {"{}", "True", R"({"liqo.io/type": "virtual-node"})", false},
           {R"({"taints": [{"key": "node-role.kubernetes.io/controlplane", "effect": "NoSchedule"}]})", "True", "{}",
            false},
           {R"({"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]})", "True", "{}",
            false},
           {R"({"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "PreferNoSchedule"}]})", "True",
            "{}", true},
           {R"({"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]})", "True", "{}", true}}) {
    CAPTURE(spec);
    CAPTURE(ready);
    CHECK(is_shared_node(node("{}", spec, ready, labels)) == shared);
  }
  Inventory inventory;
  const auto first = node(R"({"cpu": "10"})");
  const auto closed = node(R"({"cpu": "10"})", R"({"unschedulable": true})");
  const auto seven = pod(R"({"cpu": "7"})", "n2");
  inventory.set_pod({"shop", "a"}, &seven);  // before its node is known
  inventory.set_node("n1", &first);
  inventory.set_node("n2", &closed);
  CHECK(cpu(inventory.free_for("rome")) == quantity("10"));
  inventory.set_node("n2", &first);
  CHECK(cpu(inventory.free_for("rome")) == quantity("13"));
  inventory.set_node("n2", nullptr);
  CHECK(cpu(inventory.free_for("rome")) == quantity("10"));
  inventory.set_node("n2", &first);
  CHECK(cpu(inventory.free_for("rome")) == quantity("13"));
  const auto odd = node(R"({"cpu": "10", "x.io/y": "odd", "x.io/z": "-1"})");
  inventory.set_node("n1", &odd);
  CHECK(text(inventory.free_for("rome")) == R"({"cpu":"13"})");
  const auto too_much = pod(R"({"cpu": "70"})", "n1");
  inventory.set_pod({"shop", "b"}, &too_much);
  CHECK(text(inventory.free_for("rome")) == R"({"cpu":"0"})");
}

TEST_CASE("settings are read as flags write them, and a mistake changes nothing") {
  SlicePolicy policy;
  REQUIRE(set_policy(policy, "default-node-resources", "cpu=4,memory=8Gi,pods=110").has_value());
  CHECK(text(policy.defaults) == R"({"cpu":"4","memory":"8Gi","pods":"110"})");
  REQUIRE(set_policy(policy, "default-limits-enforcement", "none").has_value());
  CHECK(policy.limits_enforcement == "None");
  REQUIRE(set_policy(policy, "ingress-classes", "nginx;default, traefik").has_value());
  CHECK(policy.ingress_classes == std::vector<OfferedClass>{{"nginx", true}, {"traefik", false}});
  REQUIRE(set_policy(policy, "cluster-labels", "region=eu,topology.kubernetes.io/zone=a").has_value());
  CHECK(policy.cluster_labels.at("region") == "eu");
  for (const char* off : {"false", "False", "FALSE", "f", "0"}) {
    CAPTURE(off);
    REQUIRE(set_policy(policy, "enable-storage", "TRUE").has_value());
    CHECK(policy.storage_enabled);
    REQUIRE(set_policy(policy, "enable-storage", off).has_value());
    CHECK_FALSE(policy.storage_enabled);
  }
  for (const auto& [name, value] : {std::pair{"sharing-percentage", "101"},
                                    {"sharing-percentage", "-1"},
                                    {"sharing-percentage", "90%"},
                                    {"sharing-percentage", ""},
                                    {"default-limits-enforcement", "Harder"},
                                    {"default-node-resources", "cpu"},
                                    {"default-node-resources", "cpu=-1"},
                                    {"default-node-resources", "cpu=x"},
                                    {"default-node-resources", "a b=1"},
                                    {"ingress-classes", "a;default,b;default"},
                                    {"ingress-classes", "a;other"},
                                    {"load-balancer-classes", "A B"},
                                    {"cluster-labels", "a=b c"},
                                    {"enable-storage", "yes"},
                                    {"default-resource-slice-class-enabled", "2"},
                                    {"no-such-setting", "1"}}) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK_FALSE(set_policy(policy, name, value).has_value());
  }
  CHECK(policy.sharing_percentage == 90);
  CHECK(policy.limits_enforcement == "None");
}

TEST_CASE("a ConfigMap overrides single flags") {
  SlicePolicy flags;
  flags.limits_enforcement = "Soft";
  const auto map = parse(R"({"metadata": {"name": "liqo-sharing-policy"}, "data": {"sharing-percentage": "50\n",
    "default-node-resources": "cpu=1\nmemory=2Gi", "typo": "1"}})");
  const auto reading = read_policy(flags, &map, nullptr);
  CHECK(reading.policy.sharing_percentage == 50);
  CHECK(text(reading.policy.defaults) == R"({"cpu":"1","memory":"2Gi"})");
  CHECK(reading.policy.limits_enforcement == "Soft");
  CHECK(reading.mistakes == std::vector<std::string>{"typo: there is no setting of this name"});
  CHECK(reading.policy.mistake().empty());
  CHECK(read_policy(flags, nullptr, &reading.policy).policy.sharing_percentage == 90);
}

TEST_CASE("a setting that cannot be read keeps what it said, and is unknown where that is not known") {
  const SlicePolicy flags;
  const auto map = [](const std::string& data) {
    return parse(R"({"metadata": {"name": "liqo-sharing-policy"}, "data": )" + data + "}");
  };
  // One good and one bad text of each, and whether a policy follows the good one.
  struct Row {
    const char *name, *good, *bad;
    bool (*is_good)(const SlicePolicy&);
  };
  for (const Row& row :
       {Row{"sharing-percentage", "0", "many", [](const SlicePolicy& p) { return p.sharing_percentage == 0; }},
        Row{"default-node-resources", "cpu=1", "cpu", [](const SlicePolicy& p) { return p.defaults.size() == 1; }},
        Row{"default-limits-enforcement", "Hard", "Harder",
            [](const SlicePolicy& p) { return p.limits_enforcement == "Hard"; }},
        Row{"default-resource-slice-class-enabled", "false", "no",
            [](const SlicePolicy& p) { return !p.default_class_enabled; }},
        Row{"share-resource-slice-class-enabled", "false", "no",
            [](const SlicePolicy& p) { return p.share_class_enabled == false; }},
        Row{"enable-storage", "true", "yes", [](const SlicePolicy& p) { return p.storage_enabled; }},
        Row{"real-storage-class-name", "fast", "A B", [](const SlicePolicy& p) { return p.storage_class == "fast"; }},
        Row{"ingress-classes", "nginx", "A B", [](const SlicePolicy& p) { return p.ingress_classes.size() == 1; }},
        Row{"load-balancer-classes", "lb", "A B",
            [](const SlicePolicy& p) { return p.load_balancer_classes.size() == 1; }},
        Row{"cluster-labels", "region=eu", "region",
            [](const SlicePolicy& p) { return p.cluster_labels.size() == 1; }}}) {
    CAPTURE(row.name);
    const auto said = [&](const char* value) { return map(std::string("{\"") + row.name + "\": \"" + value + "\"}"); };
    const kube::Object good = said(row.good), bad = said(row.bad);
    const auto before = read_policy(flags, &good, nullptr);
    CHECK(before.mistakes.empty());
    CHECK(row.is_good(before.policy));
    const auto kept = read_policy(flags, &bad, &before.policy);
    CHECK(row.is_good(kept.policy));
    CHECK(kept.policy.mistake().empty());
    REQUIRE(kept.mistakes.size() == 1);
    CHECK(kept.mistakes[0].ends_with("; what it said before holds on"));
    // After a start its earlier value is not known, however often it is read, and other settings are not concerned.
    const auto unknown = read_policy(flags, &bad, nullptr);
    CHECK_FALSE(unknown.policy.is_known(row.name));
    CHECK(unknown.policy.mistake().contains(row.name));
    CHECK(read_policy(flags, &bad, &unknown.policy).policy.mistake() == unknown.policy.mistake());
    CHECK(read_policy(flags, &good, &unknown.policy).policy.mistake().empty());
  }
}

TEST_CASE("a Tenant may have a percentage of its own, 0 also") {
  kube::Object tenant = parse(R"({"metadata": {"name": "rome"}})");
  CHECK(read_tenant_percentage(tenant).value() == std::nullopt);
  tenant.set_annotation("liqo.io/sharing-percentage", "30");
  CHECK(read_tenant_percentage(tenant).value() == 30);
  tenant.set_annotation("liqo.io/sharing-percentage", "0");
  CHECK(read_tenant_percentage(tenant).value() == 0);
  for (const char* wrong : {"300", "-1", "", "half"}) {
    CAPTURE(wrong);
    tenant.set_annotation("liqo.io/sharing-percentage", wrong);
    CHECK_FALSE(read_tenant_percentage(tenant));
  }
}

TEST_CASE("of 0 per cent nothing is granted, not even one of what is counted") {
  const Resources free = amounts(R"({"cpu":"8","memory":"16Gi","pods":"110","nvidia.com/gpu":"4"})");
  for (const auto& [name, quantity] : share_of(free, 0, {}, 1)) {
    CAPTURE(name);
    CHECK(quantity.is_zero());
  }
}

}  // namespace liqo::core
