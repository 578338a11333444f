// Names: their forms, and those that both clusters derive in the same way.
#include "core/common/names.hpp"

#include <doctest/doctest.h>

namespace liqo::core {

TEST_CASE("a DNS label is 1-63 lower-case characters with alphanumeric ends") {
  for (const char* good : {"a", "a-b", "0a", "shop-rome"}) CHECK(is_dns_label(good));
  for (const char* bad : {"", "-a", "a-", "A", "a.b", "a_b", "a/b", "a b"}) CHECK_FALSE(is_dns_label(bad));
  CHECK(is_dns_label(std::string(63, 'a')));
  CHECK_FALSE(is_dns_label(std::string(64, 'a')));
  CHECK_FALSE(is_dns_label(std::string_view("a\0b", 3)));
}

TEST_CASE("a DNS subdomain is made of labels joined by points") {
  for (const char* good : {"a", "a.b", "a-b.c-d", "0.1"}) CHECK(is_dns_subdomain(good));
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A", "a/b"}) CHECK_FALSE(is_dns_subdomain(bad));
  CHECK_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

TEST_CASE("a name in a path has the characters of names and leads to no other place") {
  for (const char* good : {"a", "0", "a.b-c", "-a", "a.", "a..b"}) CHECK(is_path_name(good));
  for (const char* bad : {"", ".", "..", ".a", "A", "a/b", "a%2f", "a b", "a?b"}) CHECK_FALSE(is_path_name(bad));
  CHECK(is_path_name(std::string(253, 'a')));
  CHECK_FALSE(is_path_name(std::string(254, 'a')));
}

TEST_CASE("a label's value may be empty, and has at most 63 characters") {
  for (const char* good : {"", "A", "a.b_c-d"}) CHECK(is_label_value(good));
  for (const char* bad : {"-a", "a.", "a b", "a/b"}) CHECK_FALSE(is_label_value(bad));
  CHECK_FALSE(is_label_value(std::string(64, 'a')));
  for (const char* good : {"a", "A.b_c", "example.com/tier", "a.b/c-d"}) CHECK(is_label_key(good));
  for (const char* bad : {"", "/", "a/", "/a", "a/b/c", "-a", "Example.com/a", "a b"}) CHECK_FALSE(is_label_key(bad));
}

TEST_CASE("the domain of a key is what is before its slash, and is below itself and its parents") {
  CHECK(domain_of("a.b/c") == "a.b");
  CHECK(domain_of("c") == "c");
  CHECK(domain_of("").empty());
  for (const char* below : {"liqo.io", "offloading.liqo.io"}) CHECK(is_below(below, "liqo.io"));
  for (const char* apart : {"", "io", "notliqo.io", "liqo.io.example"}) CHECK_FALSE(is_below(apart, "liqo.io"));
}

TEST_CASE("a Service has a name for each place from which it is called") {
  CHECK(service_names("web", "shop") ==
        std::vector<std::string>{"web", "web.shop", "web.shop.svc", "web.shop.svc.cluster.local"});
}

TEST_CASE("a node's name that does not fit into a label is refused in one sentence") {
  CHECK(check_node_name("milan").has_value());
  CHECK(check_node_name(std::string(63, 'a')).has_value());
  const auto refused = check_node_name(std::string(64, 'a'));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().text().find("63 characters") != std::string::npos);
  CHECK_FALSE(check_node_name("").has_value());
}

TEST_CASE("the root CA takes the first five characters of its cluster") {
  struct Case {
    const char *cluster, *name;
  };
  for (const auto& [cluster, name] :
       {Case{"cluster-a", "kube-root-ca.crt.clust"}, Case{"clus-ter", "kube-root-ca.crt.clus-a"},
        Case{"a", "kube-root-ca.crt.a"}, Case{"", "kube-root-ca.crt.a"}}) {
    CAPTURE(cluster);
    CHECK(remote_root_ca_name(cluster) == name);
  }
}

TEST_CASE("the key of a token is its volume and a part of the digest of its path") {
  CHECK(token_key("token", "path") == "token-a0af9f");
  CHECK(token_key("kube-api-access-abcde", "token") == "kube-api-access-abcde-3c469e");
  CHECK(token_secret_name("web") == "web-token");
  CHECK(token_secret_pod("web-token", "") == "web");
  CHECK(token_secret_pod("web-token", "other") == "web");
  CHECK(token_secret_pod("web", "") == "");
}

TEST_CASE("the token Secret of a pod with a long name has a name, too, and the pod is known by its annotation") {
  const std::string longest(247, 'a'), dotted = std::string(229, 'a') + "." + std::string(23, 'b');
  CHECK(token_secret_name(longest) == longest + "-token");
  for (const std::string& pod : {longest + "b", std::string(253, 'a'), dotted}) {
    CAPTURE(pod);
    const std::string secret = token_secret_name(pod);
    CHECK(is_dns_subdomain(secret));
    CHECK(token_secret_pod(secret, pod) == pod);
  }
  CHECK(token_secret_name(longest + "b") != token_secret_name(longest + "c"));
}

}  // namespace liqo::core
