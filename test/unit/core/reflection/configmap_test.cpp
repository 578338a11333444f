// The particulars of ConfigMaps: their fields, the root CA, and immutable ones.
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

const ReflectedKind& kind() { return *find_reflected_kind("ConfigMap"); }

ReflectionPlan plan(const kube::Object& local, const kube::Object* remote,
                    SelectionPolicy policy = SelectionPolicy::deny_list) {
  return plan_reflection({.kind = kind(), .policy = policy, .ctx = context()}, &local, remote, "shop-r");
}

const Samples samples("ConfigMap", {R"({"data": {"a": "1", "empty": ""}, "binaryData": {"b": "AA=="}})",
                                    R"({"data": {"a": "1"}, "immutable": true})"});

}  // namespace

TEST_CASE("data, binary data and the immutable flag are copied, and nothing else") {
  const auto local = parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "uid": "l1",
    "ownerReferences": [{}], "finalizers": ["x"]}, "data": {"a": "1"}, "binaryData": {"b": "AA=="}, "immutable": true, "other": 1})");
  const auto made = plan(local, nullptr);
  const kube::Object& copy = std::get<reflection_action::Apply>(made).desired;
  CHECK(kube::json::serialize(copy.tree().at("data")) == R"({"a":"1"})");
  CHECK(kube::json::serialize(copy.tree().at("binaryData")) == R"({"b":"AA=="})");
  CHECK(kube::bool_at(copy.tree(), {"immutable"}));
  CHECK_FALSE(copy.tree().contains("other"));
  CHECK_FALSE(copy.metadata().contains("ownerReferences"));
  CHECK_FALSE(copy.metadata().contains("finalizers"));
}

TEST_CASE("a key that disappears from the data is taken away remotely") {
  const auto local = parse(R"({"metadata": {"name": "settings"}, "data": {"a": "1", "b": "2"}})");
  auto made = plan(local, nullptr);
  kube::Object copy = std::get<reflection_action::Apply>(made).desired;
  copy.mutable_metadata()["uid"] = "r1";
  const auto shorter = parse(R"({"metadata": {"name": "settings"}, "data": {"a": "1"}})");
  CHECK(std::holds_alternative<reflection_action::Apply>(plan(shorter, &copy)));
}

TEST_CASE("what somebody else adds is taken away once all else is right, by a patch of that very state") {
  const auto local = parse(R"({"metadata": {"name": "settings"}, "data": {"a": "1", "b": "2"}})");
  kube::Object copy = std::get<reflection_action::Apply>(plan(local, nullptr)).desired;
  copy.mutable_metadata()["uid"] = "r1";
  copy.mutable_metadata()["resourceVersion"] = "7";
  copy.tree()["data"].as_object()["added"] = "there";
  copy.tree()["binaryData"] = parse_value(R"({"blob": "AA=="})");
  const auto made = plan(local, &copy);
  REQUIRE(std::holds_alternative<reflection_action::Trim>(made));
  CHECK(std::get<reflection_action::Trim>(made).patch == parse_value(R"({"data": {"added": null},
    "binaryData": {"blob": null}, "metadata": {"uid": "r1", "resourceVersion": "7"}})")
                                                             .as_object());
  // Of what is immutable nothing can be taken away: it is as it is, or replaced.
  copy.tree()["data"].as_object()["b"] = "3";
  CHECK(std::holds_alternative<reflection_action::Apply>(plan(local, &copy)));
}

TEST_CASE("the root CA takes another name and is always reflected unless it is annotated") {
  CHECK(kind().remote_name("kube-root-ca.crt", context()) == "kube-root-ca.crt.local");
  CHECK(kind().remote_name("kube-root-ca.crt", context("clus-ter")) == "kube-root-ca.crt.clus-a");
  CHECK(kind().remote_name("settings", context()) == "settings");
  CHECK(kind().remote_name("kube-root-ca.crt.local", context()) == "");
  // Whoever may write ConfigMaps at home does not say whom pods with trust bundles trust.
  const std::string trust = "trust-of-home-0123456789abcdef01234567";
  CHECK(kind().remote_name(trust, context()) == "");
  CHECK(kind().local_name(trust, context()) == "");
  CHECK(kind().remote_name("trust-of-home-mine", context()) == "trust-of-home-mine");
  CHECK(kind().local_name("kube-root-ca.crt.local", context()) == "kube-root-ca.crt");
  CHECK(kind().local_name("kube-root-ca.crt", context()) == "");
  CHECK(kind().local_name("settings", context()) == "settings");

  auto root = parse(R"({"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "PEM"}})");
  for (const auto policy : {SelectionPolicy::deny_list, SelectionPolicy::allow_list}) {
    const auto made = plan(root, nullptr, policy);
    REQUIRE(std::holds_alternative<reflection_action::Apply>(made));
    CHECK(std::get<reflection_action::Apply>(made).desired.name() == "kube-root-ca.crt.local");
  }
  root.set_annotation("liqo.io/skip-reflection", "true");
  CHECK(std::holds_alternative<reflection_action::Keep>(plan(root, nullptr)));
  const auto taken = parse(R"({"metadata": {"name": "kube-root-ca.crt.local"}})");
  CHECK(std::holds_alternative<reflection_action::Keep>(plan(taken, nullptr)));
}

TEST_CASE("an immutable copy is replaced where its data changed") {
  const auto local = parse(R"({"metadata": {"name": "settings"}, "data": {"a": "1"}, "immutable": true})");
  auto made = plan(local, nullptr);
  kube::Object copy = std::get<reflection_action::Apply>(made).desired;
  copy.mutable_metadata()["uid"] = "r1";
  CHECK(std::holds_alternative<reflection_action::Keep>(plan(local, &copy)));
  auto relabelled = local;
  relabelled.set_label("app", "web");
  CHECK(std::holds_alternative<reflection_action::Apply>(plan(relabelled, &copy)));
  for (const char* changed : {R"({"metadata": {"name": "settings"}, "data": {"a": "2"}, "immutable": true})",
                              R"({"metadata": {"name": "settings"}, "data": {"a": "1"}})"}) {
    const auto replaced = plan(parse(changed), &copy);
    REQUIRE(std::holds_alternative<reflection_action::Remove>(replaced));
    CHECK(std::get<reflection_action::Remove>(replaced).message.empty());
  }
}

}  // namespace liqo::core::reflection
