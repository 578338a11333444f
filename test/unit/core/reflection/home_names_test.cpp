// Names of the cluster's DNS in Services of the type ExternalName.
#include "core/reflection/home_names.hpp"

#include <map>

#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

kube::Object leading(std::string_view name, std::string_view type = "ExternalName") {
  kube::Object service = kube::Object::make(kube::resources::services, {"shop", "db"});
  service.mutable_spec() = {{"type", type}, {"externalName", name}};
  return service;
}

}  // namespace

TEST_CASE("a name of the cluster's DNS has a namespace in it") {
  struct Case {
    const char *name, *ns;
  };
  for (const Case& c : {
           Case{"db.shop.svc", "shop"},
           Case{"db.shop.svc.cluster.local", "shop"},
           Case{"db.shop.svc.cluster.local.", "shop"},
           Case{"pg-0.db.shop.svc.cluster.local", "shop"},
           // Resolvers complete no name of an externalName.
           Case{"db.shop", ""},
           Case{"db", ""},
           Case{"shop.svc", ""},
           Case{".shop.svc", ""},
           Case{"db..svc", ""},
           Case{"svc.cluster.local", ""},
           Case{"", ""},
           // These may be names of the Internet.
           Case{"db.shop.svc.example.org", ""},
           Case{"db.example.org", ""},
       }) {
    CAPTURE(c.name);
    CHECK(namespace_in_name(c.name) == c.ns);
  }
}

TEST_CASE("a name of the cluster's DNS gets the twin of its namespace, and without one it is told") {
  ForgingContext ctx = context();
  const std::map<std::string, std::string> twins{{"bank", "bank-r"}, {"same", "same"}};
  struct Case {
    const char *name, *sent, *leads_to;
    bool is_lost;
  };
  for (const Case& c : {
           Case{"pg.shop.svc.cluster.local", "pg.shop-r.svc.cluster.local", "", false},
           Case{"pg.shop.svc", "pg.shop-r.svc", "", false},
           Case{"pg-0.pg.bank.svc.cluster.local.", "pg-0.pg.bank-r.svc.cluster.local.", "bank", false},
           // The first label has the name of the namespace, too.
           Case{"bank.bank.svc", "bank.bank-r.svc", "bank", false},
           Case{"pg.same.svc", "pg.same.svc", "same", false},
           Case{"pg.other.svc", "pg.other.svc", "other", true},
           Case{"db.example.org", "db.example.org", "", false},
       }) {
    CAPTURE(c.name);
    ctx.twins = &twins;
    const kube::Object service = leading(c.name);
    CHECK(external_name_there(service, "shop-r", ctx) == c.sent);
    CHECK(leads_to(service) == c.leads_to);
    CHECK(describe_lost_name(service, ctx).empty() != c.is_lost);
    ctx.twins = nullptr;
    CHECK(describe_lost_name(service, ctx).empty() == std::string_view(c.leads_to).empty());
  }
  ctx.twins = &twins;
  CHECK(describe_lost_name(leading("pg.other.svc"), ctx) ==
        "externalName \"pg.other.svc\" does not lead here from cluster remote-cluster, because namespace other is not "
        "offloaded to it: offload it, too");
  const kube::Object server = leading("kubernetes.default.svc.cluster.local");
  const std::map<std::string, std::string> with_default{{"default", "default-r"}};
  ctx.twins = &with_default;
  CHECK(external_name_there(server, "shop-r", ctx) == "kubernetes.default.svc.cluster.local");
  CHECK(leads_to(server).empty());
  CHECK(
      describe_lost_name(server, ctx) ==
      "externalName \"kubernetes.default.svc.cluster.local\" leads to the API server of cluster remote-cluster there, "
      "not to that of this cluster");
  ctx.twins = &twins;
  // The field is unused in a Service of another type.
  CHECK(external_name_there(leading("pg.bank.svc", "ClusterIP"), "shop-r", ctx) == "pg.bank.svc");
  CHECK(leads_to(leading("pg.bank.svc", "ClusterIP")).empty());
  CHECK(describe_lost_name(leading("pg.other.svc", "ClusterIP"), ctx).empty());
}

}  // namespace liqo::core::reflection
