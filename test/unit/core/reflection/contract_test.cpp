// The contract that every reflected kind keeps.
#include <functional>

#include "core/namespaces/twin_quota.hpp"
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;

/// The fields of objects of a kind, as its test has them.
std::span<const std::string_view> samples(const ReflectedKind& kind) {
  const Samples* known = samples_of(kind.name);
  REQUIRE_MESSAGE(known != nullptr, "the test of ", kind.name, " has no Samples (objects.hpp)");
  REQUIRE_MESSAGE(known->fields.size() >= 2, "too few Samples of ", kind.name);
  return known->fields;
}

kube::Object local_object(const ReflectedKind& kind, std::string_view particular) {
  kube::Object object = kube::Object::make(kind.resource, {"shop", "thing"});
  for (const auto& [key, value] : parse_value(particular).get_object()) object.tree()[key] = value;
  object = as_stored(object);
  object.mutable_metadata()["uid"] = "l1";
  object.set_label("app", "web");
  object.set_annotation("note", "x");
  return object;
}

/// Another value of the same type.
json::value altered(const json::value& value) {
  if (value.is_bool()) return !value.get_bool();
  if (value.is_string()) return json::value(std::string(value.get_string()) + "x");
  return value.is_int64() ? json::value(value.get_int64() + 1) : json::value("x");
}

/// Calls back with the live object for each single value of what is wanted, changed in it; entries of lists are those
/// of the same place.
void alter_each(const json::value& wanted, json::value& live, const std::function<void(std::string)>& changed,
                const std::string& path = {}) {
  const auto visit = [&](const json::value& wish, json::value& each, const std::string& below) {
    if (wish.is_object() || wish.is_array()) return alter_each(wish, each, changed, below);
    const json::value before = each;
    each = altered(wish);
    changed(below);
    each = before;
  };
  if (const json::object* map = wanted.if_object())
    for (const auto& [key, wish] : *map) {
      const bool was_there = live.as_object().contains(key);
      visit(wish, live.as_object()[key], path + "." + std::string(key));
      if (!was_there) live.as_object().erase(key);
    }
  if (const json::array* list = wanted.if_array())
    for (std::size_t i = 0; i < list->size(); ++i) visit((*list)[i], live.as_array().at(i), path + "[]");
}

}  // namespace

TEST_CASE("a copy as an API server stores it is not written again, and each change of it is put right") {
  for (const ReflectedKind* kind : reflected_kinds()) {
    CAPTURE(kind->name);
    const Reflection reflection(kind->name);
    for (const std::string_view sample : samples(*kind)) {
      CAPTURE(sample);
      const kube::Object local = local_object(*kind, sample);
      const kube::Object wanted = reflection.applied(local);
      kube::Object copy = as_stored(wanted);
      CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
      for (const auto& [key, wish] : wanted.tree()) {
        if (key == "apiVersion" || key == "kind" || key == "metadata") continue;
        if (!wish.is_object()) continue;
        alter_each(wish, copy.tree()[key], [&](const std::string& path) {
          CAPTURE(path);
          CHECK(name_of(reflection.plan(&local, &copy)) != "Keep");
        });
      }
      CHECK(name_of(reflection.plan(&local, &copy)) == "Keep");
    }
  }
}

TEST_CASE("every change of an object at home reaches its copy") {
  for (const ReflectedKind* kind : reflected_kinds())
    for (const std::string_view before : samples(*kind))
      for (const std::string_view after : samples(*kind)) {
        CAPTURE(before);
        CAPTURE(after);
        const Reflection reflection(kind->name);
        const kube::Object copy = reflection.copy(local_object(*kind, before));
        const kube::Object local = local_object(*kind, after);
        CHECK((name_of(reflection.plan(&local, &copy)) == "Keep") == (before == after));
      }
}

TEST_CASE("a provider bounds how many copies of every kind a twin holds, and all twins of a consumer") {
  const core::TwinBounds bounds = core::twin_bounds(0, {}, {});
  for (const ReflectedKind* kind : reflected_kinds()) {
    const kube::Resource& copies = kind->copies();
    std::string name = "count/" + std::string(copies.plural);
    if (!copies.group.empty()) name += "." + std::string(copies.group);
    CAPTURE(name);
    CHECK(bounds.twin.contains(name));
    CHECK(bounds.consumer.contains(name));
  }
}

TEST_CASE("every kind keeps the contract of reflection") {
  CHECK_FALSE(reflected_kinds().empty());
  for (const ReflectedKind* kind : reflected_kinds()) {
    CAPTURE(kind->name);
    CHECK(find_reflected_kind(kind->name) == kind);
    const auto plan = [&](const kube::Object* local, const kube::Object* remote,
                          SelectionPolicy policy = SelectionPolicy::deny_list) {
      return plan_reflection({.kind = *kind, .policy = policy, .ctx = context()}, local, remote, "shop-r");
    };
    const kube::Object local = local_object(*kind, samples(*kind).front());
    const kube::Object copy = Reflection(kind->name).copy(local);

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
    auto broken = kube::Object::parse(R"({"metadata": {"name": "thing", "labels": 3, "annotations": [1]}, "data": 5,
      "type": {}, "spec": {"type": 1, "ports": [1, {"port": {}}], "selector": [], "rules": [1, {"http": 2}], "tls": {},
      "defaultBackend": [1]}})");
    REQUIRE(broken.has_value());
    (void)plan(&*broken, &*broken);
    (void)plan(&*broken, &copy);
    (void)plan(&local, &*broken);
    kube::Object marked = *broken;
    marked.mutable_metadata()["labels"] = copy.labels();
    (void)plan(&local, &marked);
    (void)plan(&*broken, &marked);
  }
}

}  // namespace liqo::core::reflection
