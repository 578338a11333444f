// The lines of home-names in a Corefile, and what CoreDNS makes of names by them.
#include "model/names/corefile.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <regex>
#include <sstream>
#include <vector>

namespace liqoctl::model {
namespace {

/// What kubeadm writes.
constexpr std::string_view usual = R"(.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
)";

/// Does to a name what the plugin rewrite of CoreDNS does: the first rule that matches decides. "" = none matches.
std::string rewritten(const std::string& lines, std::string name) {
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string plugin, field, kind, from, to;
    if (!(words >> plugin >> field >> kind >> from >> to) || plugin != "rewrite") continue;
    const auto full = [](std::string domain) { return domain.ends_with('.') ? domain : domain + "."; };
    if (kind == "exact") {
      if (name == full(from)) return full(to);
    } else if (kind == "suffix") {
      if (name.ends_with(full(from))) return name.substr(0, name.size() - full(from).size()) + full(to);
    } else {
      REQUIRE(kind == "regex");
      std::smatch groups;
      if (!std::regex_search(name, groups, std::regex(from))) continue;
      for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t at; (at = to.find("{" + std::to_string(i) + "}")) != std::string::npos;)
          to.replace(at, 3, groups[i].str());
      return full(to);
    }
  }
  return "";
}

TEST_CASE("names of home lead into the twins, and all others of the zone nowhere") {
  const struct {
    std::string_view name, expected;
  } cases[] = {
      // By the search domain svc.<consumer>…
      {"db.shop.svc.rome.home.liqo.internal.", "db.shop-rome.svc.cluster.local."},
      {"db-0.db.shop.svc.rome.home.liqo.internal.", "db-0.db.shop-rome.svc.cluster.local."},
      {"10-2-0-21.db.shop.svc.rome.home.liqo.internal.", "10-2-0-21.db.shop-rome.svc.cluster.local."},
      {"_http._tcp.db.shop.svc.rome.home.liqo.internal.", "_http._tcp.db.shop-rome.svc.cluster.local."},
      {"db.my-shop-2.svc.rome-eu-1.home.liqo.internal.", "db.my-shop-2-rome-eu-1.svc.cluster.local."},
      {"1.2.svc.3.home.liqo.internal.", "1.2-3.svc.cluster.local."},
      // By the search domain <consumer>….
      {"db.shop.svc.cluster.local.rome.home.liqo.internal.", "db.shop-rome.svc.cluster.local."},
      {"db-0.db.shop.svc.cluster.local.rome.home.liqo.internal.", "db-0.db.shop-rome.svc.cluster.local."},
      {"_http._tcp.db.shop.svc.cluster.local.rome.home.liqo.internal.", "_http._tcp.db.shop-rome.svc.cluster.local."},
      {"10-2-0-21.shop.pod.cluster.local.rome.home.liqo.internal.", "10-2-0-21.shop-rome.pod.cluster.local."},
      {"10-2-0-21.shop.pod.rome.home.liqo.internal.", "10-2-0-21.shop-rome.pod.cluster.local."},
      {"fd00--1.shop.pod.rome.home.liqo.internal.", "fd00--1.shop-rome.pod.cluster.local."},
      // A namespace may be called so.
      {"db.svc.svc.rome.home.liqo.internal.", "db.svc-rome.svc.cluster.local."},
      // The probe, and the name that is not there.
      {"probe.home.liqo.internal.", "kubernetes.default.svc.cluster.local."},
      {"absent.home.liqo.internal.", "absent.none.cluster.local."},
      // What is no name of a Service or of a pod.
      {"db.svc.rome.home.liqo.internal.", "db.svc.rome.none.cluster.local."},
      {"www.example.com.rome.home.liqo.internal.", "www.example.com.rome.none.cluster.local."},
      {"a.b.c.d.example.com.svc.rome.home.liqo.internal.", "a.b.c.d.example.com.svc.rome.none.cluster.local."},
      {"db.shop.svc.other.domain.rome.home.liqo.internal.", "db.shop.svc.other.domain.rome.none.cluster.local."},
      {"a_b.shop_x.svc.rome.home.liqo.internal.", "a_b.shop_x.svc.rome.none.cluster.local."},
      {"rome.home.liqo.internal.", "rome.none.cluster.local."},
      // Other zones are not touched.
      {"db.shop.svc.cluster.local.", ""},
      {"db.shop.svc.rome.home.liqo.internal.example.com.", ""},
      {"db.shop.svc.rome.homexliqo.internal.", ""},
      {"www.example.com.", ""},
  };
  const std::string lines = home_names_lines("cluster.local", "  ");
  for (const auto& each : cases) CHECK_MESSAGE(rewritten(lines, std::string(each.name)) == each.expected, each.name);
}

TEST_CASE("a cluster with another domain has both domains at the end of names") {
  const std::string lines = home_names_lines("k8s.example", "");
  CHECK(rewritten(lines, "db.shop.svc.cluster.local.rome.home.liqo.internal.") == "db.shop-rome.svc.k8s.example.");
  CHECK(rewritten(lines, "db.shop.svc.k8s.example.rome.home.liqo.internal.") == "db.shop-rome.svc.k8s.example.");
  CHECK(rewritten(lines, "db.shop.svc.k8sxexample.rome.home.liqo.internal.").ends_with(".none.k8s.example."));
  CHECK(rewritten(lines, "probe.home.liqo.internal.") == "kubernetes.default.svc.k8s.example.");
}

TEST_CASE("CoreDNS reads the lines word by word as they are meant") {
  std::istringstream text(home_names_lines("k8s.example", "    "));
  for (std::string line; std::getline(text, line);) {
    CAPTURE(line);
    REQUIRE(line.starts_with("    "));
    if (line[4] == '#') continue;
    CHECK(line.starts_with("    rewrite name "));
    // A comment, a variable of the environment and a quote would begin here.
    for (std::string_view mark : {"#", "{$", "{%", "\"", "\t"}) CHECK(line.find(mark) == std::string::npos);
    std::istringstream words(line);
    for (std::string word; words >> word;) CHECK((word != "{" && word != "}"));
  }
}

TEST_CASE("the lines stand before the plugin kubernetes, once, and go without a trace") {
  const auto with = with_home_names(usual);
  REQUIRE(with.has_value());
  CHECK(with->domain == "cluster.local");
  CHECK(with->reloads);
  const std::string lines = home_names_lines("cluster.local", "    ");
  CHECK(with->text.contains("    ready\n" + lines + "    kubernetes cluster.local"));
  CHECK(with->text.size() == usual.size() + lines.size());
  CHECK(with_home_names(with->text)->text == with->text);
  const auto without = without_home_names(with->text);
  REQUIRE(without.has_value());
  CHECK(without->text == usual);
  CHECK(without->reloads);
  CHECK(without_home_names(usual)->text == usual);

  // Those of another version are replaced.
  std::string old = with->text;
  old.replace(old.find("rewrite name suffix"), 19, "rewrite name prefix");
  CHECK(with_home_names(old)->text == with->text);
  CHECK(without_home_names(old)->text == usual);

  const std::string diff = changed_lines(usual, with->text);
  CHECK(diff.starts_with("+     # begin home-names"));
  CHECK(diff.ends_with("+     # end home-names\n"));
  CHECK(changed_lines(with->text, usual).starts_with("-     # begin home-names"));
  CHECK(changed_lines(usual, usual).empty());
}

TEST_CASE("texts of any shape come back byte for byte") {
  for (std::string_view corefile : {
           std::string_view(".:53 {\n\tkubernetes cluster.local\n}"),
           std::string_view(".:53 {\r\n  kubernetes cluster.local {\r\n    ttl 5\r\n  }\r\n}\r\n"),
           std::string_view("# kubernetes x\n\n.:1053 dns://.:53, {\n  errors # {\n\n  kubernetes k8s.example.\n}\n\n"),
           std::string_view(
               "example.org {\n  file db.example.org\n}\n. {\n kubernetes in-addr.arpa cluster.local\n}\n"),
           std::string_view(":53 {\n  log . \"{common} }\\\" \"\nkubernetes cluster.local\n}\n"),
       }) {
    CAPTURE(corefile);
    const auto with = with_home_names(corefile);
    REQUIRE(with.has_value());
    CHECK(with->text != corefile);
    CHECK_FALSE(with->reloads);
    CHECK(with_home_names(with->text)->text == with->text);
    CHECK(without_home_names(with->text)->text == corefile);
  }
}

TEST_CASE("a CoreDNS that somebody else manages, or that is not understood, is left alone") {
  const struct {
    std::string_view corefile, says;
  } cases[] = {
      {".:53 {\n  kubernetes cluster.local\n  import custom/*.override\n}\nimport custom/*.server\n", "imports other"},
      {"(part) {\n  kubernetes cluster.local\n}\n.:53 {\n  import part\n}\n", "imports other"},
      {".:53 {\n  forward . 10.0.0.1\n}\n", "no server block of the Corefile has the plugin kubernetes"},
      {"", "no server block of the Corefile has the plugin kubernetes"},
      {"cluster.local:53 {\n  kubernetes cluster.local\n}\n.:53 {\n  forward . 10.0.0.1\n}\n", "not the one for all"},
      {"tls://.:853 {\n  kubernetes cluster.local\n}\n", "not the one for all"},
      {".:53 {\n  kubernetes cluster.local\n}\n.:5353 {\n  kubernetes cluster.local\n}\n", "more than once"},
      {".:53 {\n  kubernetes a.example\n  kubernetes b.example\n}\n", "more than once"},
      {".:53 { kubernetes cluster.local\n}\n", "on a line of its own"},
      {".:53 {\n  kubernetes {$CLUSTER_DOMAIN}\n}\n", "names no domain"},
      {".:53 {\n  kubernetes in-addr.arpa\n}\n", "names no domain"},
      {".:53 {\n  kubernetes cluster.local\n", "cannot be read"},
      {".:53 {\n  kubernetes cluster.local\n}\n}\n", "cannot be read"},
      {"kubernetes cluster.local\n", "cannot be read"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.corefile);
    const auto refused = with_home_names(each.corefile);
    REQUIRE_FALSE(refused.has_value());
    CHECK_MESSAGE(refused.error().text().contains(each.says), refused.error().text());
    CHECK(refused.error().text().contains("nothing is changed"));
    CHECK_FALSE(refused.error().text().contains('\n'));
  }
}

TEST_CASE("lines of which somebody has removed a part are not guessed at") {
  const std::string with = with_home_names(usual)->text;
  const std::size_t begin = with.find("    # begin"), end = with.find("    # end");
  for (std::string broken : {with.substr(0, begin) + with.substr(with.find('\n', begin) + 1),
                             with.substr(0, end) + with.substr(with.find('\n', end) + 1), with + with}) {
    CHECK_FALSE(without_home_names(broken).has_value());
    REQUIRE_FALSE(with_home_names(broken).has_value());
    CHECK(with_home_names(broken).error().text().contains("not whole"));
  }
}

TEST_CASE("it is known who would undo a change") {
  const auto keeper = [](std::string_view metadata) {
    return who_keeps_corefile(*kube::Object::parse(R"({"metadata": )" + std::string(metadata) + "}"));
  };
  CHECK(keeper(R"({"name": "coredns"})").empty());
  CHECK(keeper(R"({"name": "coredns", "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists"}})").empty());
  CHECK(keeper(R"({"name": "coredns", "labels": {"addonmanager.kubernetes.io/mode": "Reconcile"}})")
            .contains("addon manager"));
  CHECK(keeper(R"({"name": "coredns", "labels": {"app.kubernetes.io/managed-by": "Helm"}})") == "Helm keeps it");
  CHECK(keeper(R"({"name": "coredns", "labels": {"argocd.argoproj.io/instance": "dns"}})") == "Argo CD keeps it");
  CHECK(keeper(R"({"name": "coredns", "labels": {"kustomize.toolkit.fluxcd.io/name": "dns"}})") == "Flux keeps it");
  CHECK(keeper(R"({"name": "coredns", "managedFields": [{"manager": "eks"}]})").contains("EKS"));
}

}  // namespace
}  // namespace liqoctl::model
