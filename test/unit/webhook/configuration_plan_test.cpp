#include "webhook/configuration_plan.hpp"

#include <doctest/doctest.h>

#include "webhook/configurations.hpp"

namespace {

using namespace liqo::webhook;
namespace json = kube::json;

kube::Object from(std::string_view text) { return kube::Object::parse(text).value(); }

const kube::Object usual = forge_configuration(mutating_configurations, {.url = "", .ns = "liqo"}, "PEM");
const kube::Object role =
    from(R"({"metadata":{"name":"liqo-installation","uid":"r1","ownerReferences":[]},"kind":"ClusterRole"})");

/// As it is stored, with another label and another owner.
kube::Object stored(bool is_ours, std::string_view owner) {
  kube::Object made = from(usual.text());
  made.mutable_metadata()["resourceVersion"] = "7";
  made.set_label("more", "y");
  if (!is_ours) made.tree()["webhooks"].as_array().pop_back();
  if (!owner.empty())
    made.add_owner_reference({.api_version = "rbac.authorization.k8s.io/v1",
                              .kind = "ClusterRole",
                              .name = std::string(owner),
                              .uid = owner == installation_role ? "r1" : "r2"});
  return made;
}

std::string owners_of(const kube::Object& object) {
  std::string names;
  for (const kube::OwnerReference& owner : object.owner_references()) names += owner.kind + "/" + owner.name + " ";
  return names;
}

}  // namespace

TEST_CASE("a configuration is made with its role, kept as it is wanted, and given to the role") {
  struct Case {
    const char* title;
    std::optional<kube::Object> there, role;
    const char* done;
    std::string owners;
  };
  const std::string ours = "ClusterRole/liqo-installation ", others = "ClusterRole/other ";
  const Case cases[] = {
      {"none is made without the role", {}, {}, "await", ""},
      {"it is made with the role", {}, role, "create", ours},
      {"it is as it is to be", stored(true, installation_role), role, "nothing", ""},
      {"the role is being removed", stored(true, installation_role), {}, "nothing", ""},
      {"nobody owns it, and nobody can", stored(true, ""), {}, "nothing", ""},
      {"nobody owns it", stored(true, ""), role, "replace", ours},
      {"somebody else owns it", stored(true, "other"), role, "replace", others + ours},
      {"somebody has changed it", stored(false, installation_role), role, "replace", ours},
      {"somebody has changed it while there is no role", stored(false, ""), {}, "replace", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const ConfigurationPlan plan = plan_configuration(c.there, usual, c.role);
    const auto* create = std::get_if<Create>(&plan);
    const auto* replace = std::get_if<Replace>(&plan);
    CHECK(std::string(std::holds_alternative<InPlace>(plan)     ? "nothing"
                      : std::holds_alternative<AwaitRole>(plan) ? "await"
                      : create                                  ? "create"
                                                                : "replace") == c.done);
    if (!create && !replace) continue;
    const kube::Object& written = create ? create->configuration : replace->configuration;
    CHECK(owners_of(written) == c.owners);
    CHECK(is_as_wanted(written, usual));
    CHECK(written.resource_version() == (create ? "" : "7"));
    CHECK(written.label("more") == (create ? "" : "y"));
  }
}

TEST_CASE("a configuration that belongs to the role needs no look at the role") {
  CHECK(is_in_place(stored(true, installation_role), usual));
  CHECK_FALSE(is_in_place(stored(true, ""), usual));
  CHECK_FALSE(is_in_place(stored(true, "other"), usual));
  CHECK_FALSE(is_in_place(stored(false, installation_role), usual));
}

TEST_CASE("what others add does not count as a difference, what they change does") {
  const Reach reach{.url = "https://1.2.3.4:9443", .ns = "liqo"};
  const kube::Object wanted = forge_configuration(mutating_configurations, reach, "PEM");
  kube::Object stored = kube::Object::parse(wanted.text()).value();
  stored.set_annotation("team", "x");
  stored.set_label("more", "y");
  CHECK(is_as_wanted(stored, wanted));
  CHECK_FALSE(is_as_wanted(stored, forge_configuration(mutating_configurations, reach, "OTHER")));
  stored.tree()["webhooks"].as_array().at(0).as_object()["failurePolicy"] = "Ignore";
  CHECK_FALSE(is_as_wanted(stored, wanted));
}
