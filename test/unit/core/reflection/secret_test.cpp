// The particulars of Secrets: their fields, what is immutable, and which are never reflected.
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

kube::Object secret(std::string_view type, std::string_view more = R"("data": {"key": "dmFsdWU="})") {
  return parse(
      R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop", "uid": "l1"},
    "type": ")" +
      std::string(type) + "\", " + std::string(more) + "}");
}

/// `<pod>-token`, as the virtual node of this pair of clusters makes it.
kube::Object tokens_of_a_pod() {
  return parse(R"({"metadata": {"name": "login", "uid": "r1", "labels": {"offloading.liqo.io/origin": "local-cluster",
    "offloading.liqo.io/destination": "remote-cluster", "offloading.liqo.io/service-account-name": "default"},
    "annotations": {"offloading.liqo.io/service-account-for-pod-name": "web"}}, "type": "Opaque"})");
}

void store(const kube::Object&, kube::Object& stored) { set_default(stored.tree(), "type", "Opaque"); }

const Samples samples("Secret",
                      {R"({"data": {"a": "QQ==", "empty": ""}})",
                       R"({"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}, "immutable": true})"},
                      store);

}  // namespace

TEST_CASE("data, type and the immutable flag of a Secret are copied, and nothing else") {
  const Reflection reflection("Secret");
  const kube::Object copy = reflection.applied(
      secret("kubernetes.io/tls", R"("data": {"tls.crt": "QQ==", "tls.key": "QQ=="}, "immutable": true, "other": 1)"));
  CHECK(copy.tree().at("data") == parse_value(R"({"tls.crt": "QQ==", "tls.key": "QQ=="})"));
  CHECK(copy.tree().at("type") == "kubernetes.io/tls");
  CHECK(kube::bool_at(copy.tree(), {"immutable"}));
  CHECK_FALSE(copy.tree().contains("other"));
}

TEST_CASE("a copy of a Secret is applied again, or replaced where it cannot be changed") {
  const Reflection reflection("Secret");
  struct Case {
    const char *title, *type, *before, *other_type, *after, *plan;
  };
  for (const Case& c : {
           Case{"other data", "Opaque", R"("data": {"a": "QQ=="})", "Opaque", R"("data": {"a": "Qg=="})", "Apply"},
           Case{"an empty value", "Opaque", R"("data": {"a": ""})", "Opaque", R"("data": {"a": "", "b": ""})", "Apply"},
           Case{"a key goes", "Opaque", R"("data": {"a": "", "b": ""})", "Opaque", R"("data": {"a": ""})", "Apply"},
           Case{"another type", "Opaque", R"("data": {})", "example.org/own", R"("data": {})", "Remove"},
           Case{"no type is a type", "Opaque", R"("data": {})", "", R"("data": {})", "Apply"},
           Case{"immutable, other data", "Opaque", R"("data": {"a": ""}, "immutable": true)", "Opaque",
                R"("data": {"a": "Qg=="}, "immutable": true)", "Remove"},
           Case{"immutable, a key goes", "Opaque", R"("data": {"a": "", "b": ""}, "immutable": true)", "Opaque",
                R"("data": {"a": ""}, "immutable": true)", "Remove"},
           Case{"immutable no more", "Opaque", R"("data": {"a": ""}, "immutable": true)", "Opaque",
                R"("data": {"a": ""})", "Remove"},
           Case{"immutable from now on", "Opaque", R"("data": {"a": ""})", "Opaque",
                R"("data": {"a": ""}, "immutable": true)", "Apply"},
       }) {
    CAPTURE(c.title);
    CHECK(reflection.change(secret(c.type, c.before), secret(c.other_type, c.after)) == c.plan);
  }
}

TEST_CASE("a value that somebody takes from the copy is put back, also an empty one") {
  const Reflection reflection("Secret");
  const kube::Object local = secret("Opaque", R"("data": {"a": ""})");
  kube::Object copy = reflection.copy(local);
  copy.tree()["data"].as_object().erase("a");
  CHECK(name_of(reflection.plan(&local, &copy)) == "Apply");
}

TEST_CASE("what is added to each Secret that is made does not have an immutable one replaced again and again") {
  const Reflection reflection("Secret");
  const kube::Object local = secret("Opaque", R"("data": {"a": ""}, "immutable": true)");
  kube::Object copy = reflection.copy(local);
  copy.tree()["data"].as_object()["injected"] = "QQ==";
  CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
}

TEST_CASE("Secrets that are of use in their cluster only are never reflected") {
  struct Case {
    const char *type, *message;
  };
  for (const Case& c : {
           Case{"bootstrap.kubernetes.io/token",
                "Secret login is not reflected to cluster remote-cluster: it holds a token by which machines join this "
                "cluster"},
           Case{"helm.sh/release.v1", ""},
       }) {
    CAPTURE(c.type);
    Reflection reflection("Secret");
    kube::Object local = secret(c.type);
    local.set_annotation("liqo.io/allow-reflection", "true");
    for (const auto policy : {SelectionPolicy::deny_list, SelectionPolicy::allow_list}) {
      reflection.policy = policy;
      const auto made = reflection.plan(&local, nullptr);
      REQUIRE(std::holds_alternative<reflection_action::Keep>(made));
      CHECK(std::get<reflection_action::Keep>(made).message == c.message);
    }
    // An object that did not ask for it gets no Event.
    local.mutable_metadata().erase("annotations");
    const auto silent = reflection.plan(&local, nullptr);
    CHECK(std::get<reflection_action::Keep>(silent).message.empty());

    // The copy of a Secret that had this name before goes; one that the Go version made may be in use.
    reflection.policy = SelectionPolicy::deny_list;
    kube::Object copy = reflection.copy(secret("Opaque"));
    const auto removal = reflection.plan(&local, &copy);
    REQUIRE(std::holds_alternative<reflection_action::Remove>(removal));
    CHECK(std::get<reflection_action::Remove>(removal).uid == "r1");
    CHECK(std::get<reflection_action::Remove>(removal).message == c.message);
    kube::Object foreign = copy;
    foreign.mutable_metadata().erase("labels");
    CHECK(name_of(reflection.plan(&local, &foreign)) == "Keep");
    copy.mutable_metadata().erase("annotations");
    CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
  }
}

TEST_CASE("a token that was made by hand is copied as Opaque, only as annotated and while a pod names it") {
  Reflection reflection("Secret");
  const auto plan = [&](const kube::Object& local, const kube::Object* remote, bool is_named) {
    return plan_reflection(
        {.kind = reflection.kind, .policy = reflection.policy, .ctx = reflection.ctx, .named_by_pod = is_named}, &local,
        remote, "shop-rome");
  };
  const kube::Object plain = secret("kubernetes.io/service-account-token", R"("data": {"token": "SldU"})");
  kube::Object allowed = plain;
  allowed.set_annotation("liqo.io/allow-reflection", "true");
  constexpr std::string_view words =
      "Secret login is not reflected to cluster remote-cluster: it holds a token of a service account of this cluster, "
      "and is not annotated liqo.io/allow-reflection; pods get tokens of their own by a projected volume";
  for (const auto policy : {SelectionPolicy::deny_list, SelectionPolicy::allow_list, SelectionPolicy::all}) {
    CAPTURE(int(policy));
    reflection.policy = policy;
    const auto made = plan(allowed, nullptr, true);
    REQUIRE(std::holds_alternative<reflection_action::Apply>(made));
    const kube::Object& copy = std::get<reflection_action::Apply>(made).desired;
    CHECK(kube::string_at(copy.tree(), {"type"}) == "Opaque");
    CHECK(kube::string_at(copy.tree(), {"data", "token"}) == "SldU");
    // Without a pod it goes, and nothing is told of that: pods come and go.
    const kube::Object stored = as_stored(copy);
    CHECK(name_of(plan(allowed, &stored, true)) == "Keep");
    const auto gone = plan(allowed, &stored, false);
    REQUIRE(std::holds_alternative<reflection_action::Remove>(gone));
    CHECK(std::get<reflection_action::Remove>(gone).message == "");
    CHECK(std::get<reflection_action::Keep>(plan(allowed, nullptr, false)).message == "");
    if (policy == SelectionPolicy::allow_list) continue;
    CHECK(std::get<reflection_action::Keep>(plan(plain, nullptr, true)).message == words);
    CHECK(std::get<reflection_action::Remove>(plan(plain, &stored, true)).message == words);
  }
  CHECK(reflection.kind.tell_copied(allowed, reflection.ctx).contains("as one of type Opaque"));
}

TEST_CASE("the tokens of pods are no copies of Secrets, in neither cluster") {
  const Reflection reflection("Secret");
  const kube::Object tokens = tokens_of_a_pod();
  CHECK(name_of(reflection.plan(nullptr, &tokens)) == "Keep");
  const kube::Object local = secret("Opaque");
  const auto refusal = reflection.plan(&local, &tokens);
  REQUIRE(std::holds_alternative<reflection_action::Refuse>(refusal));
  CHECK(std::get<reflection_action::Refuse>(refusal).message ==
        "cluster remote-cluster has a Secret named \"login\" in the twin namespace that holds the tokens of a pod: the "
        "remote object already exists");

  // Those of another consumer's pods, which run here.
  const auto kept = reflection.plan(&tokens, nullptr);
  REQUIRE(std::holds_alternative<reflection_action::Keep>(kept));
  CHECK(std::get<reflection_action::Keep>(kept).message.empty());
}

}  // namespace liqo::core::reflection
