// The particulars of Ingresses: their classes, and what of their spec is copied.
#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

kube::Object ingress(std::string_view spec, std::string_view annotations = "{}") {
  return parse(R"({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web",
    "namespace": "shop", "uid": "l1", "annotations": )" +
               std::string(annotations) + R"(}, "spec": )" + std::string(spec) + "}");
}

std::string spec_of(const Reflection& reflection, std::string_view local) {
  return kube::json::serialize(reflection.applied(ingress(local)).spec());
}

void store(const kube::Object&, kube::Object& stored) {
  set_default(stored.mutable_spec(), "ingressClassName", "default-there");
  stored.tree()["status"] = {{"loadBalancer", kube::json::object()}};
}

const Samples samples(
    "Ingress",
    {R"({"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}})",
     R"({"spec": {"ingressClassName": "ours", "tls": [{"hosts": ["a.example"]}, {"secretName": "crt"}],
       "rules": [{"host": "b.example"}, {"host": "a.example", "http": {"paths": [
       {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"name": "http"}}}},
       {"pathType": "ImplementationSpecific", "backend": {"resource": {"kind": "Bucket", "name": "files"}}}]}}]}})"},
    store);

}  // namespace

TEST_CASE("the class of an Ingress is the provider's, where one was agreed on") {
  Reflection reflection("Ingress");
  const kube::Object local =
      ingress(R"({"ingressClassName": "nginx", "rules": []})", R"({"kubernetes.io/ingress.class": "nginx", "a": "b"})");
  CHECK_FALSE(reflection.applied(local).spec().contains("ingressClassName"));
  CHECK_FALSE(reflection.applied(local).has_annotation("kubernetes.io/ingress.class"));
  CHECK(reflection.applied(local).annotation("a") == "b");
  reflection.ctx.ingress_class = "theirs";
  CHECK(kube::string_at(reflection.applied(local).spec(), {"ingressClassName"}) == "theirs");
}

TEST_CASE("rules, backends and certificates of an Ingress are sent as Go Liqo sends them") {
  const Reflection reflection("Ingress");
  struct Case {
    const char *title, *local, *sent;
  };
  for (
      const Case& c : {
          Case{"a port by number",
               R"({"rules": [{"host": "a.example", "http": {"paths": [{"path": "/", "pathType": "Prefix",
                    "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]})",
               R"({"rules": [{"host": "a.example", "http": {"paths": [{"path": "/", "pathType": "Prefix",
                    "backend": {"service": {"name": "web", "port": {"name": "", "number": 80}}}}]}}]})"},
          Case{"a port by name", R"({"defaultBackend": {"service": {"name": "web", "port": {"name": "http"}}}})",
               R"({"defaultBackend": {"service": {"name": "web", "port": {"name": "http", "number": 0}}}})"},
          Case{
              "a resource",
              R"({"defaultBackend": {"resource": {"apiGroup": "k8s.example", "kind": "Bucket", "name": "files", "x": 1}}})",
              R"({"defaultBackend": {"resource": {"apiGroup": "k8s.example", "kind": "Bucket", "name": "files"}}})"},
          Case{"a rule without paths", R"({"rules": [{"host": "a.example"}]})",
               R"({"rules": [{"host": "a.example"}]})"},
          Case{
              "certificates", R"({"tls": [{"hosts": ["a.example"], "secretName": "crt"}, {"hosts": ["b.example"]}]})",
              R"({"tls": [{"hosts": ["a.example"], "secretName": "crt"}, {"hosts": ["b.example"], "secretName": ""}]})"},
      }) {
    CAPTURE(c.title);
    CHECK(parse_value(spec_of(reflection, c.local)) == parse_value(c.sent));
  }
}

TEST_CASE("lists of an Ingress are compared whole") {
  const Reflection reflection("Ingress");
  const kube::Object local = ingress(R"({"rules": [{"host": "a.example"}], "tls": [{"hosts": ["a.example"]}]})");
  const kube::Object copy = reflection.copy(local);
  for (const char* changed : {R"({"rules": [{"host": "a.example", "http": {"paths": []}}, {"host": "b.example"}]})",
                              R"({"rules": [{"host": "a.example", "http": {"paths": [{"path": "/"}]}}]})",
                              R"({"tls": [{"hosts": ["a.example"], "secretName": "theirs"}]})", R"({"tls": []})"}) {
    CAPTURE(changed);
    kube::Object touched = copy;
    for (const auto& [key, value] : parse_value(changed).get_object()) touched.mutable_spec()[key] = value;
    CHECK(name_of(reflection.plan(&local, &touched)) == "Apply");
  }
}

}  // namespace liqo::core::reflection
