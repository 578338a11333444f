// The peering users of a provider.
#include "model/peer/peering_users.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object binding(std::string_view ns, std::string_view user, std::string_view suffix, std::string_view created) {
  kube::Object made =
      kube::Object::make(kube::resources::pods, {std::string(ns), std::string(user) + std::string(suffix)});
  made.set_label("liqo.io/peering-user-name", user);
  made.mutable_metadata()["creationTimestamp"] = created;
  return made;
}

}  // namespace

TEST_CASE("peering users are those who have both of their rights, and others were left half made") {
  kube::Object tenant = kube::Object::make(kube::resources::pods, {"liqo-tenant-turin", "turin"});
  tenant.mutable_spec()["clusterID"] = "turin";
  const auto users = model::peering_users(
      {binding("liqo-tenant-turin", "liqo-peer-user-turin", model::writer_suffix, "2026-11-21T10:00:01Z"),
       binding("liqo", "liqo-peer-user-turin", model::reader_suffix, "2026-11-21T10:00:00Z"),
       binding("liqo", "liqo-peer-user-rome", model::reader_suffix, "2026-11-21T09:00:00Z"),
       binding("liqo", "somebody", model::reader_suffix, "2026-11-21T09:00:00Z")},
      {tenant});
  CHECK(json::value(model::documents(users)) ==
        json::parse(R"([{"consumer": "rome", "namespace": "", "created": "2026-11-21T09:00:00Z", "complete": false,
                         "peered": false},
                        {"consumer": "turin", "namespace": "liqo-tenant-turin", "created": "2026-11-21T10:00:00Z",
                         "complete": true, "peered": true}])"));
  CHECK(model::listing(users, *kube::parse_time("2026-11-21T10:01:00Z")) ==
        "CONSUMER   NAMESPACE           PEERED   NOTE                                     AGE\n"
        "rome                           no       half made: liqoctl delete peering-user   61m\n"
        "turin      liqo-tenant-turin   yes                                               60s\n");
}
