// The contract that every reflected kind keeps.
#include <doctest/doctest.h>

#include "liqo/reflection/kind.hpp"

namespace liqo::reflection {
namespace {

core::ForgingContext context() {
  core::ForgingContext ctx;
  ctx.clusters = {.local = "local-cluster", .remote = "remote-cluster"};
  return ctx;
}

kube::Object local_object(const ReflectedKind& kind) {
  kube::Object object = kube::Object::make(kind.resource, {"shop", "thing"});
  object.mutable_metadata()["uid"] = "l1";
  object.set_label("app", "web");
  object.set_annotation("note", "x");
  return object;
}

/// The copy as the provider's API server has it.
kube::Object stored(const ReflectedKind& kind, const kube::Object& local) {
  auto plan = plan_reflection(kind, SelectionPolicy::deny_list, &local, nullptr, "shop-r", context());
  kube::Object copy = std::get<reflection_action::Apply>(plan).desired;
  copy.mutable_metadata()["uid"] = "r1";
  return copy;
}

std::string name_of(const ReflectionPlan& plan) {
  constexpr const char* names[] = {"Keep", "Refuse", "Remove", "Apply"};
  return names[plan.index()];
}

}  // namespace

TEST_CASE("every kind keeps the contract of reflection") {
  CHECK_FALSE(reflected_kinds().empty());
  for (const ReflectedKind* kind : reflected_kinds()) {
    CAPTURE(kind->name);
    CHECK(find_reflected_kind(kind->name) == kind);
    const auto plan = [&](const kube::Object* local, const kube::Object* remote,
                          SelectionPolicy policy = SelectionPolicy::deny_list) {
      return plan_reflection(*kind, policy, local, remote, "shop-r", context());
    };
    const kube::Object local = local_object(*kind);
    const kube::Object copy = stored(*kind, local);

    // Made with both labels, without force; equal, it is not written again.
    CHECK(copy.key() == kube::ObjectKey{"shop-r", kind->remote_name("thing", context())});
    CHECK(copy.label("offloading.liqo.io/origin") == "local-cluster");
    CHECK(copy.label("offloading.liqo.io/destination") == "remote-cluster");
    CHECK(copy.label("app") == "web");
    CHECK_FALSE(std::get<reflection_action::Apply>(plan(&local, nullptr)).force);
    CHECK(name_of(plan(&local, &copy)) == "Keep");
    CHECK(kind->local_name(kind->remote_name("thing", context()), context()) == "thing");

    // Changes at home, and changes of the copy, are put right; entries of others do not matter.
    kube::Object changed = local;
    changed.set_label("app", "shop");
    const auto apply = plan(&changed, &copy);
    REQUIRE(name_of(apply) == "Apply");
    CHECK(std::get<reflection_action::Apply>(apply).force);
    CHECK(std::get<reflection_action::Apply>(apply).desired.uid() == "r1");
    kube::Object shorter = local;
    shorter.mutable_metadata().erase("labels");
    CHECK(name_of(plan(&shorter, &copy)) == "Apply");
    kube::Object touched = copy;
    touched.set_label("app", "other");
    CHECK(name_of(plan(&local, &touched)) == "Apply");
    kube::Object extended = copy;
    extended.set_annotation("theirs", "1");
    CHECK(name_of(plan(&local, &extended)) == "Keep");
    kube::Object of_go = copy;
    of_go.mutable_metadata()["annotations"].as_object().erase("offloading.liqo.io/reflected-digest");
    CHECK(name_of(plan(&local, &of_go)) == "Apply");

    // Gone at home, gone there, once.
    const auto removal = plan(nullptr, &copy);
    REQUIRE(name_of(removal) == "Remove");
    CHECK(std::get<reflection_action::Remove>(removal).uid == "r1");
    CHECK(std::get<reflection_action::Remove>(removal).message.empty());
    CHECK(name_of(plan(nullptr, nullptr)) == "Keep");
    kube::Object going = copy;
    going.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
    CHECK(name_of(plan(nullptr, &going)) == "Keep");
    CHECK(name_of(plan(&local, &going)) == "Keep");

    // Objects of others are not touched, whatever happens at home.
    kube::Object foreign = copy;
    foreign.mutable_metadata().erase("labels");
    CHECK(name_of(plan(&local, &foreign)) == "Refuse");
    CHECK(name_of(plan(nullptr, &foreign)) == "Keep");

    // Skip and allow.
    using enum SelectionPolicy;
    struct Case {
      const char *title, *skip, *allow;
      SelectionPolicy policy;
      bool reflected;
    };
    for (const Case& c :
         {Case{"deny, none", nullptr, nullptr, deny_list, true}, Case{"deny, skip", "", nullptr, deny_list, false},
          Case{"deny, skip true", "true", nullptr, deny_list, false},
          Case{"deny, skip False", "False", nullptr, deny_list, true},
          Case{"deny, allow", nullptr, "true", deny_list, true},
          Case{"allow, none", nullptr, nullptr, allow_list, false}, Case{"allow, allow", nullptr, "", allow_list, true},
          Case{"allow, allow false", nullptr, "false", allow_list, false},
          Case{"allow, skip", "true", nullptr, allow_list, false}}) {
      CAPTURE(c.title);
      kube::Object annotated = local;
      if (c.skip) annotated.set_annotation("liqo.io/skip-reflection", c.skip);
      if (c.allow) annotated.set_annotation("liqo.io/allow-reflection", c.allow);
      CHECK(name_of(plan(&annotated, nullptr, c.policy)) == (c.reflected ? "Apply" : "Keep"));
      const auto present = plan(&annotated, &copy, c.policy);
      CHECK((name_of(present) == "Remove") == !c.reflected);
      if (!c.reflected) CHECK_FALSE(std::get<reflection_action::Remove>(present).message.empty());
    }

    // Objects of the wrong form throw nothing.
    auto broken = kube::Object::parse(R"({"metadata": {"name": "thing", "labels": 3, "annotations": [1]}, "data": 5})");
    REQUIRE(broken.has_value());
    (void)plan(&*broken, &*broken);
    (void)plan(&*broken, &copy);
  }
}

}  // namespace liqo::reflection
