#include "core/peering/decisions.hpp"

#include <doctest/doctest.h>

#include "liqo/api/kinds.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::core {
namespace {

kube::Object tenant(std::string_view condition, std::string_view share = "") {
  kube::Object made = kube::Object::make(api::kinds::tenants, {"liqo-tenant-rome", "rome"});
  made.mutable_spec()["clusterID"] = "rome";
  if (!condition.empty()) made.mutable_spec()["tenantCondition"] = condition;
  if (!share.empty()) made.set_annotation("liqo.io/sharing-percentage", share);
  return made;
}

TEST_CASE("what a new Tenant has anyway is not worth remembering") {
  for (std::string_view condition : {"", "Active"}) {
    kube::Object plain = tenant(condition);
    plain.set_annotation("example.com/note", "x");
    CHECK(remember_decisions(plain) == "");
  }
}

TEST_CASE("the next Tenant bears the decisions of the last one, and keeps what else it says") {
  for (const kube::Object& last : {tenant("Drained"), tenant("Cordoned", "10"), tenant("Active", "10")}) {
    kube::Object next = tenant("Active", "100");
    next.mutable_spec()["csr"] = "Y3Ny";
    next.set_annotation("example.com/note", "x");
    recall_decisions(remember_decisions(last), next);
    CHECK(api::Tenant(next).condition() == api::Tenant(last).condition());
    if (last.has_annotation("liqo.io/sharing-percentage")) CHECK(next.annotation("liqo.io/sharing-percentage") == "10");
    CHECK(kube::string_at(next.spec(), {"csr"}) == "Y3Ny");
    CHECK(next.annotation("example.com/note") == "x");
  }
}

TEST_CASE("what is no memory changes nothing") {
  for (std::string_view text : {"", "{", "[]", "7", R"({"tenantCondition":7,"annotations":["x"]})",
                                R"({"annotations":{"example.com/a":"x","liqo.io/b":7}})"}) {
    kube::Object next = tenant("Active");
    const std::string before = next.text();
    recall_decisions(text, next);
    CHECK(next.text() == before);
  }
}

}  // namespace
}  // namespace liqo::core
