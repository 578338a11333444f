#include "kube/wire/kubeconfig.hpp"

#include <doctest/doctest.h>

namespace {

using namespace kube;
using namespace kube::wire;

std::string document(std::string_view cluster_fields, std::string_view user_fields,
                     std::string_view context_fields = "cluster: c, user: u") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {" +
         std::string(context_fields) + "}}]\nclusters: [{name: other, cluster: {}}, {name: c, cluster: {" +
         std::string(cluster_fields) + "}}]\nusers: [{name: u, user: {" + std::string(user_fields) + "}}]\n";
}

constexpr KubeconfigOrigin file = KubeconfigOrigin::file;
constexpr KubeconfigOrigin secret = KubeconfigOrigin::secret;
constexpr std::string_view server = "server: 'https://192.168.1.1:6443'";

}  // namespace

TEST_CASE("a kubeconfig with inline data is read from a Secret") {
  const auto config = parse_kubeconfig(
      document(
          "server: 'https://192.168.1.1:6443/prefix/', certificate-authority-data: Q0E=, tls-server-name: kubernetes",
          "client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: abc", "cluster: c, user: u, namespace: n"),
      {});
  REQUIRE(config.has_value());
  CHECK(config->server == ServerUrl{.tls = true, .host = "192.168.1.1", .port = 6443, .path = "/prefix"});
  CHECK(config->ca_pem == "CA");
  CHECK(config->client_certificate_pem == "CERT");
  CHECK(config->client_key_pem == "KEY");
  CHECK(config->token == "abc");
  CHECK(config->tls_server_name == "kubernetes");
  CHECK(config->ns == "n");
  CHECK_FALSE(config->insecure_skip_tls_verify);
}

TEST_CASE("JSON is YAML") {
  const auto config = parse_kubeconfig(R"({"current-context":"x","contexts":[{"name":"x","context":{"cluster":"c"}}],)"
                                       R"("clusters":[{"name":"c","cluster":{"server":"http://h"}}],"users":null})",
                                       {});
  REQUIRE(config.has_value());
  CHECK(config->server == ServerUrl{.tls = false, .host = "h", .port = 80, .path = ""});
  CHECK(config->user.empty());
}

TEST_CASE("files of a user's kubeconfig are relative to its directory") {
  const auto config = parse_kubeconfig(document("server: 'https://h', certificate-authority: pki/ca.crt",
                                                "client-certificate: /abs/c.crt, client-key: c.key, tokenFile: token"),
                                       {.origin = file, .directory = "/home/me/.kube", .context = "x"});
  REQUIRE(config.has_value());
  CHECK(config->ca_file == "/home/me/.kube/pki/ca.crt");
  CHECK(config->client_certificate_file == "/abs/c.crt");
  CHECK(config->client_key_file == "/home/me/.kube/c.key");
  CHECK(config->token_file == "/home/me/.kube/token");
}

TEST_CASE("an exec plugin of a user's kubeconfig is kept for the command line") {
  const std::string cluster = std::string(server) +
                              ", extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, "
                              "extension: {audience: '17', list: [1, true]}}]";
  const auto config = parse_kubeconfig(
      document(cluster,
               "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks, get-token], env: [{name: "
               "A, value: b}], interactiveMode: Never, provideClusterInfo: true, installHint: Get it.}"),
      {.origin = file, .directory = "/home/me", .context = ""});
  REQUIRE(config.has_value());
  REQUIRE(config->exec.has_value());
  CHECK(config->exec->command == "aws");
  CHECK(config->exec->args == std::vector<std::string>{"eks", "get-token"});
  CHECK(config->exec->env.front() == std::pair<std::string, std::string>("A", "b"));
  CHECK(config->exec->interactive == ExecPlugin::Interactive::never);
  CHECK(config->exec->install_hint == "Get it.");
  CHECK(config->exec->provide_cluster_info);
  CHECK(json::serialize(config->exec->cluster_config) == R"({"audience":"17","list":[1,true]})");
}

TEST_CASE("the command of an exec plugin is a name, or a path that is relative to the kubeconfig") {
  const std::pair<const char*, const char*> cases[] = {
      {"aws", "aws"}, {"./bin/aws", "/home/me/./bin/aws"}, {"bin/aws", "/home/me/bin/aws"}, {"/bin/aws", "/bin/aws"}};
  for (const auto& [written, command] : cases) {
    CAPTURE(written);
    const auto config = parse_kubeconfig(
        document(server,
                 "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: " + std::string(written) + "}"),
        {.origin = file, .directory = "/home/me", .context = ""});
    REQUIRE(config.has_value());
    CHECK(config->exec->command == command);
    CHECK(config->exec->interactive == ExecPlugin::Interactive::if_available);
  }
}

TEST_CASE("a token beside an exec plugin is used in its place") {
  for (const char* token : {"token: abc", "tokenFile: /token"}) {
    CAPTURE(token);
    const auto config = parse_kubeconfig(
        document(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}, " + std::string(token)),
        {.origin = file, .directory = "", .context = ""});
    REQUIRE(config.has_value());
    CHECK_FALSE(config->exec.has_value());
  }
}

TEST_CASE("what cannot be used is refused with one sentence that names the place") {
  struct Case {
    std::string title;
    KubeconfigOrigin origin;
    std::string text;
    Errc code;
    const char* part;
  };
  const std::string deep = "a: " + std::string(100'000, '[');
  const Case cases[] = {
      {"exec from a Secret", secret, document(server, "exec: {command: rm}"), Errc::unsupported,
       "user 'u': field 'exec'"},
      {"exec of an old version", file,
       document(server, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws}"), Errc::unsupported,
       "exec plugin of user 'u': field 'apiVersion' is neither"},
      {"exec of nothing", file, document(server, "exec: {apiVersion: client.authentication.k8s.io/v1}"),
       Errc::invalid_input, "field 'command' is missing"},
      {"exec of a mode that there is not", file,
       document(server,
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Sometimes}"),
       Errc::invalid_input, "field 'interactiveMode'"},
      {"auth-provider", file, document(server, "auth-provider: {name: gcp}"), Errc::unsupported,
       "field 'auth-provider'"},
      {"token file from a Secret", secret, document(server, "tokenFile: /etc/shadow"), Errc::unsupported,
       "user 'u': field 'tokenFile'"},
      {"CA file from a Secret", secret, document("server: 'https://h', certificate-authority: /ca", ""),
       Errc::unsupported, "cluster 'c': field 'certificate-authority'"},
      {"certificate file from a Secret", secret, document(server, "client-certificate: /c, client-key: /k"),
       Errc::unsupported, "field 'client-certificate'"},
      {"key file from a Secret beside data", secret,
       document(server, "client-certificate-data: QQ==, client-key-data: QQ==, client-key: k"), Errc::unsupported,
       "field 'client-key'"},
      {"proxy", file, document("server: 'https://h', proxy-url: 'http://p'", ""), Errc::unsupported,
       "field 'proxy-url' is not supported: take it out, and name in 'server' an address that is reached directly"},
      {"impersonation", file, document(server, "as: admin"), Errc::unsupported, "field 'as'"},
      {"impersonated groups", file, document(server, "as-groups: [a]"), Errc::unsupported, "field 'as-groups'"},
      {"basic authentication", file, document(server, "username: a, password: b"), Errc::unsupported,
       "field 'username'"},
      {"no server", secret, document("tls-server-name: a", ""), Errc::invalid_input,
       "cluster 'c': field 'server' is missing"},
      {"server is a list", secret, document("server: [a]", ""), Errc::invalid_input, "field 'server' is not a string"},
      {"server without scheme", secret, document("server: 'h:6443'", ""), Errc::invalid_input,
       "must begin with https://"},
      {"insecure with CA", secret,
       document("server: 'https://h', insecure-skip-tls-verify: true, certificate-authority-data: QQ==", ""),
       Errc::invalid_input, "contradicts"},
      {"insecure is a word", secret, document("server: 'https://h', insecure-skip-tls-verify: perhaps", ""),
       Errc::invalid_input, "neither true nor false"},
      {"CA is not base64", secret, document("server: 'https://h', certificate-authority-data: '%%'", ""),
       Errc::invalid_input, "is not base64"},
      {"certificate without key", secret, document(server, "client-certificate-data: QQ=="), Errc::invalid_input,
       "client-key-data"},
      {"key without certificate", secret, document(server, "client-key-data: QQ=="), Errc::invalid_input,
       "client-certificate-data"},
      {"missing cluster", secret, document(server, "", "cluster: nope, user: u"), Errc::invalid_input,
       "context 'x': there is no cluster 'nope'"},
      {"missing user", secret, document(server, "", "cluster: c, user: nope"), Errc::invalid_input,
       "there is no user 'nope'"},
      {"missing context", secret, "current-context: y\ncontexts: []", Errc::missing, "there is no context 'y'"},
      {"no current context", secret, "contexts: []", Errc::missing, "'current-context' is missing"},
      {"a context twice", secret,
       "current-context: x\ncontexts: [{name: x, context: {cluster: a}}, {name: x, context: {cluster: b}}]",
       Errc::invalid_input, "context 'x' is there twice"},
      {"clusters is a mapping", secret,
       "current-context: x\ncontexts: [{name: x, context: {cluster: a}}]\nclusters: {a: b}", Errc::invalid_input,
       "'clusters' is not a list"},
      {"empty", secret, "", Errc::parse, "not a mapping"},
      {"a scalar", secret, "hello", Errc::parse, "not a mapping"},
      {"broken YAML", secret, "a: [1, 2\nb: }", Errc::parse, "is not valid YAML (line "},
      {"an open list", secret, "a: [1, 2", Errc::parse,
       "is not valid YAML (line 1: a list that begins with [ is not closed)"},
      {"an open list and its end of line", secret, "a: b\nc: [1, 2\n\n", Errc::parse,
       "is not valid YAML (line 2: a list that begins with [ is not closed)"},
      {"an open map", secret, "a: {b: 1\n", Errc::parse,
       "is not valid YAML (line 1: a map that begins with { is not closed)"},
      {"tabs", secret, "a:\n\t- b", Errc::parse, "is not valid YAML"},
      {"very deep", secret, deep, Errc::parse, "is not valid YAML"},
      {"an unknown alias", secret, "a: *b", Errc::parse, "is not valid YAML"},
      {"too large", secret, std::string((1U << 20) + 1, ' '), Errc::too_large, "1 MiB"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.title);
    const auto config = parse_kubeconfig(test.text, {.origin = test.origin, .directory = "", .context = ""});
    REQUIRE_FALSE(config.has_value());
    CHECK(to_string(config.error().code()) == to_string(test.code));
    CAPTURE(config.error().text());
    CHECK(config.error().text().find(test.part) != std::string::npos);
    CHECK(config.error().text().starts_with("kubeconfig: "));
  }
}

TEST_CASE("a billion laughs cost no more than their text") {
  std::string text = "l0: &l0 [a, a, a, a, a, a, a, a, a]\n";
  for (int level = 1; level < 40; ++level) {
    const std::string below = "*l" + std::to_string(level - 1), own = "l" + std::to_string(level);
    text += own + ": &" + own + " [";
    for (int i = 0; i < 9; ++i) text += (i ? ", " : "") + below;
    text += "]\n";
  }
  const auto config = parse_kubeconfig(text + document(server, "token: *l39"), {});
  REQUIRE_FALSE(config.has_value());
  CHECK(config.error().text().find("'token' is not a string") != std::string::npos);
}

TEST_CASE("server URLs are taken apart") {
  struct Case {
    const char* text;
    const char* host_port;
    const char* authority;
    const char* path;
    const char* full;
  };
  const Case cases[] = {
      {"https://h", "h:443", "h", "", "https://h:443"},
      {"https://h:443/", "h:443", "h", "", "https://h:443"},
      {"http://h:8080/a/b//", "h:8080", "h:8080", "/a/b", "http://h:8080/a/b"},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", "[fd00::1]:6443", "", "https://[fd00::1]:6443"},
      {"https://[::1]", "[::1]:443", "[::1]", "", "https://[::1]:443"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.text);
    const auto url = parse_server_url(test.text);
    REQUIRE(url.has_value());
    CHECK(url->host_port() == test.host_port);
    CHECK(url->authority() == test.authority);
    CHECK(url->path == test.path);
    CHECK(url->text() == test.full);
    CHECK(parse_server_url(url->text()) == *url);
  }
  for (const char* text : {"", "https://", "ftp://h", "https://h:0", "https://h:65536", "https://h:1x",
                           "https://h:", "https://u@h", "https://h?a", "https://h#a", "https://[::1", "https://[]",
                           "https://[h]", "https://a b", "https://h\r\nx: y"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_server_url(text).has_value());
  }
}

TEST_CASE("the configuration of a pod names the files of its service account") {
  const auto config = in_cluster_config("fd00::1", "443", "/sa");
  REQUIRE(config.has_value());
  CHECK(config->server.host == "fd00::1");
  CHECK(config->ca_file == "/sa/ca.crt");
  CHECK(config->token_file == "/sa/token");
  CHECK_FALSE(in_cluster_config("", "443").has_value());
}
