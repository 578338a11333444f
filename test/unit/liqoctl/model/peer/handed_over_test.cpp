// The fields of a Tenant or an Identity that are taken from the other side.
#include <doctest/doctest.h>

#include "model/peer/handed_over.hpp"

namespace {

using namespace liqoctl::model;
namespace json = kube::json;

Object object(const char* text) { return Object::from(json::parse(text)).value(); }

TEST_CASE("of a consumer's Tenant only what it has to say is taken, and the rest is named") {
  const auto taken = tenant_to_admit(object(R"({"apiVersion":"authentication.liqo.io/v1beta1","kind":"Tenant",
    "metadata":{"name":"boss","namespace":"kube-system","finalizers":["x/y"],
      "labels":{"liqo.io/remote-cluster-id":"rome","liqo.io/other":"x"},"annotations":{"liqo.io/sharing-percentage":"100"}},
    "spec":{"clusterID":"rome","publicKey":"a","csr":"b","signature":"c","proxyURL":"http://p",
      "authzPolicy":"TolerateNoHandshake","tenantCondition":"Active"},"status":{"tenantNamespace":"default"}})"),
                                     "liqo-tenant-rome");
  REQUIRE(taken);
  CHECK(taken->object.tree() == json::parse(R"({"apiVersion":"authentication.liqo.io/v1beta1","kind":"Tenant",
    "metadata":{"name":"rome","namespace":"liqo-tenant-rome","labels":{"liqo.io/remote-cluster-id":"rome"}},
    "spec":{"clusterID":"rome","publicKey":"a","csr":"b","signature":"c","proxyURL":"http://p"}})"));
  CHECK(taken->left_out == std::vector<std::string>{"label liqo.io/other", "annotation liqo.io/sharing-percentage",
                                                    "metadata.finalizers", "spec.authzPolicy", "spec.tenantCondition"});
  CHECK_FALSE(
      tenant_to_admit(object(R"({"kind":"Tenant","metadata":{"name":"x"},"spec":{"clusterID":"Not one"}})"), "x"));
}

TEST_CASE("of a provider's Identity only the credentials are taken") {
  const auto taken =
      identity_to_adopt(object(R"({"kind":"Identity","metadata":{"name":"controlplane-paris","ownerReferences":[{}]},
    "spec":{"clusterID":"milan","type":"ControlPlane","authParams":{"apiServer":"https://m"},"namespace":"liqo-tenant-rome"}})"),
                        "liqo-tenant-milan");
  REQUIRE(taken);
  CHECK(taken->object.key().text() == "liqo-tenant-milan/controlplane-milan");
  CHECK(kube::string_at(taken->object.spec(), {"authParams", "apiServer"}) == "https://m");
  CHECK(taken->left_out == std::vector<std::string>{"metadata.ownerReferences"});
  CHECK_FALSE(identity_to_adopt(
      object(R"({"metadata":{"name":"x"},"spec":{"clusterID":"milan","type":"ResourceSlice"}})"), "x"));
}

TEST_CASE("credentials that lead elsewhere are noticed") {
  const auto identity = [](const char* server, const char* ca) {
    Object out = object(R"({"kind":"Identity","metadata":{"name":"controlplane-paris"},"spec":{}})");
    out.mutable_spec()["authParams"] = json::object{{"apiServer", server}, {"ca", ca}, {"signedCRT", server}};
    return out;
  };
  CHECK(moved_credentials(identity("https://a", "x"), identity("https://a", "x")) == "");
  CHECK(moved_credentials(identity("https://a", "x"), identity("https://b\x1b[2J", "x")) ==
        "Identity controlplane-paris leads to https://a, and the other side now says https://b?[2J.");
  CHECK(moved_credentials(identity("https://a", "x"), identity("https://a", "y")) ==
        "Identity controlplane-paris has another CA for https://a than the other side now says.");
}

}  // namespace
