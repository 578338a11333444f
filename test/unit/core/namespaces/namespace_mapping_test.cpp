// The table of mapped namespaces, from honest and from hostile NamespaceMaps.
#include "core/namespaces/namespace_mapping.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

/// The table of a map that asks for what it has, unless told otherwise.
NamespaceMapping mapping_of(std::string_view current, std::string_view desired = "",
                            const NamespaceMapping* before = nullptr) {
  kube::Object map =
      testing::parse(R"({"metadata": {"name": "milan"}, "status": {"currentMapping": )" + std::string(current) + "}}");
  kube::json::object& wanted = kube::ensure_object(map.mutable_spec(), "desiredMapping");
  for (const auto& [local, entry] : kube::object_at(map.status(), {"currentMapping"}))
    wanted[local] = kube::string_at(entry, {"remoteNamespace"});
  if (!desired.empty()) map.mutable_spec()["desiredMapping"] = testing::parse_value(desired);
  return NamespaceMapping::from(api::NamespaceMap(map), before);
}

}  // namespace

TEST_CASE("only accepted entries are used") {
  const auto mapping = mapping_of(R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Accepted"},
    "new": {"remoteNamespace": "new-rome", "phase": "CreationLoopBackOff"},
    "old": {"remoteNamespace": "old-rome", "phase": "Terminating"}})");
  REQUIRE(mapping.entries().size() == 1);
  REQUIRE(mapping.to_remote("shop"));
  CHECK(*mapping.to_remote("shop") == "shop-rome");
  CHECK_FALSE(mapping.to_remote("new"));
  CHECK_FALSE(mapping.to_remote("old"));
  CHECK(mapping.refused().empty());
}

TEST_CASE("trouble with a twin that is in use does not end its use") {
  const auto used = mapping_of(R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Accepted"}})");
  struct Case {
    const char *title, *current, *desired;
    const NamespaceMapping* before;
    bool mapped, troubled;
  };
  const char* const failing = R"({"shop": {"remoteNamespace": "shop-rome", "phase": "CreationLoopBackOff"}})";
  const Case cases[] = {
      {"in use", failing, "", &used, true, false},
      {"never in use, as far as is known", failing, "", nullptr, false, true},
      {"in use, and no longer wanted", failing, "{}", &used, false, false},
      {"in use under another name", failing, R"({"shop": "shop-2"})", &used, false, false},
      {"of another twin than the one in use",
       R"({"shop": {"remoteNamespace": "shop-2", "phase": "CreationLoopBackOff"}})", "", &used, false, true},
      {"the twin is going", R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Terminating"}})", "", &used, false,
       false},
      {"the provider knows nothing of it", "{}", R"({"shop": "shop-rome"})", &used, false, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    const auto mapping = mapping_of(one.current, one.desired, one.before);
    CHECK((mapping.to_remote("shop") != nullptr) == one.mapped);
    CHECK(mapping.is_troubled("shop") == one.troubled);
  }
}

TEST_CASE("what a provider maps without having been asked is not used") {
  const char* const current = R"({"kube-system": {"remoteNamespace": "mine", "phase": "Accepted"}})";
  for (const char* desired :
       {"{}", "null", R"({"shop": "mine"})", R"({"kube-system": "other"})", R"({"kube-system": 3})"}) {
    CAPTURE(desired);
    CHECK(mapping_of(current, desired).entries().empty());
  }
  CHECK(mapping_of(current, R"({"kube-system": "mine"})").to_remote("kube-system"));
}

TEST_CASE("a twin that is used no more is known while it is there") {
  const char* const shop = R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Accepted"}})";
  struct Case {
    const char *title, *current, *desired, *withdrawn;
  };
  for (const Case& c :
       {Case{"in use", shop, "", ""}, Case{"not wanted any more", shop, "{}", "shop-rome"},
        Case{"wanted under another name", shop, R"({"shop": "shop-2"})", "shop-rome"},
        Case{"going", R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Terminating"}})", "{}", "shop-rome"},
        Case{"going while it is wanted", R"({"shop": {"remoteNamespace": "shop-rome", "phase": "Terminating"}})", "",
             "shop-rome"},
        Case{"gone", "{}", "{}", ""},
        // Whether it was in use is not known if this process has just begun.
        Case{"in trouble", R"({"shop": {"remoteNamespace": "shop-rome", "phase": "CreationLoopBackOff"}})", "",
             "shop-rome"},
        Case{"not the name of a namespace", R"({"shop": {"remoteNamespace": "../x", "phase": "Accepted"}})", "{}",
             ""}}) {
    CAPTURE(c.title);
    const auto mapping = mapping_of(c.current, c.desired);
    const std::string* withdrawn = mapping.withdrawn("shop");
    CHECK((withdrawn ? *withdrawn : "") == c.withdrawn);
    CHECK((mapping.to_remote("shop") == nullptr) == (c.title != std::string_view("in use")));
  }
}

TEST_CASE("two tables differ in the namespaces of which they say another thing") {
  const auto before = mapping_of(R"({"same": {"remoteNamespace": "same-rome", "phase": "Accepted"},
    "moved": {"remoteNamespace": "moved-1", "phase": "Accepted"},
    "left": {"remoteNamespace": "left-rome", "phase": "Accepted"},
    "ends": {"remoteNamespace": "ends-rome", "phase": "Accepted"},
    "sick": {"remoteNamespace": "sick-rome", "phase": "CreationLoopBackOff"},
    "ill": {"remoteNamespace": "ill-rome", "phase": "CreationLoopBackOff"}})");
  const auto after = mapping_of(R"({"same": {"remoteNamespace": "same-rome", "phase": "Accepted"},
    "moved": {"remoteNamespace": "moved-2", "phase": "Accepted"},
    "new": {"remoteNamespace": "new-rome", "phase": "Accepted"},
    "ends": {"remoteNamespace": "ends-rome", "phase": "Terminating"},
    "ill": {"remoteNamespace": "ill-rome", "phase": "CreationLoopBackOff"}})");
  const std::set<std::string, std::less<>> expected{"moved", "left", "new", "ends", "sick"};
  CHECK(before.differences(after) == expected);
  CHECK(after.differences(before) == expected);
  CHECK(after.differences(after).empty());
}

TEST_CASE("names that are no namespaces are refused") {
  for (const char* name : {"", "Shop", "a/b", "../kube-system", "a.b", "kube system"}) {
    CAPTURE(name);
    const auto mapping =
        mapping_of(R"({"shop": {"remoteNamespace": ")" + std::string(name) + R"(", "phase": "Accepted"}})");
    CHECK(mapping.entries().empty());
    CHECK(mapping.refused().size() == 1);
  }
}

TEST_CASE("two namespaces with one twin are both refused, and others stay") {
  const auto mapping = mapping_of(R"({"a": {"remoteNamespace": "x", "phase": "Accepted"},
    "b": {"remoteNamespace": "x", "phase": "Accepted"}, "c": {"remoteNamespace": "y", "phase": "Accepted"}})");
  CHECK(mapping.entries().size() == 1);
  CHECK(mapping.to_remote("c"));
  CHECK_FALSE(mapping.to_remote("a"));
  CHECK(mapping.refused().size() == 2);
}

TEST_CASE("a status of the wrong form is an empty table") {
  for (const char* current : {"null", "[]", "3", R"({"a": 1, "b": null, "c": {"remoteNamespace": 5, "phase": []}})"})
    CHECK(mapping_of(current).entries().empty());
}

}  // namespace liqo::core
