#include "kubelet/routes.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqo::kubelet;

/// The options of a query, or the status of its refusal.
template <class Options, class Read>
std::expected<Options, int> read(std::string_view query, Read read_options) {
  const auto parameters = read_query(query);
  if (!parameters) return std::unexpected(parameters.error().status);
  auto options = read_options(*parameters);
  if (!options) return std::unexpected(options.error().status);
  return *options;
}

}  // namespace

TEST_CASE("paths are read into what they name") {
  const auto logs = read_route("GET", "/containerLogs/rome/web-0/main?follow=true");
  REQUIRE(logs);
  CHECK(logs->endpoint == Endpoint::logs);
  CHECK(logs->ns == "rome");
  CHECK(logs->pod == "web-0");
  CHECK(logs->container == "main");
  CHECK(logs->query == "follow=true");
  CHECK(logs->subresource == "proxy");
  CHECK(logs->verb == "get");

  const auto exec = read_route("POST", "/exec/rome/web.0/main?command=a&command=b");
  REQUIRE(exec);
  CHECK(exec->endpoint == Endpoint::exec);
  CHECK(exec->verb == "create");
  const auto attach = read_route("POST", "/attach/rome/web-0/main?output=1");
  REQUIRE(attach);
  CHECK(attach->endpoint == Endpoint::attach);
  CHECK(attach->container == "main");
  CHECK(attach->subresource == "proxy");
  const auto forward = read_route("POST", "/portForward/rome/web-0?port=80");
  REQUIRE(forward);
  CHECK(forward->endpoint == Endpoint::port_forward);
  CHECK(forward->ns == "rome");
  CHECK(forward->pod == "web-0");
  CHECK(forward->container == "");
  CHECK(forward->subresource == "proxy");
  // A WebSocket begins with a GET, and runs the command all the same.
  for (const char* path :
       {"/exec/rome/web/main", "/attach/rome/web/main", "/portForward/rome/web", "/run/rome/web/main"})
    CHECK(read_route("GET", path)->verb == "create");
  CHECK(read_route("GET", "/stats/summary")->verb == "get");
}

TEST_CASE("paths of a node are asked for by their narrower name first") {
  struct Case {
    const char* target;
    Endpoint endpoint;
    const char* narrower;
    const char* subresource = "proxy";
  };
  const Case cases[] = {
      {"/pods", Endpoint::pods, "pods"},
      {"/pods/", Endpoint::pods, "pods"},
      {"/pods?x=y", Endpoint::pods, "pods"},
      {"/runningpods/", Endpoint::running_pods, "pods"},
      {"/runningpods", Endpoint::running_pods, "pods"},
      {"/healthz", Endpoint::healthz, "healthz"},
      {"/configz", Endpoint::configz, "configz"},
      {"/stats/summary", Endpoint::stats_summary, "", "stats"},
      {"/stats/summary?only_cpu_and_memory=true", Endpoint::stats_summary, "", "stats"},
      {"/metrics", Endpoint::metrics, "", "metrics"},
      {"/metrics/cadvisor", Endpoint::metrics_cadvisor, "", "metrics"},
      {"/metrics/probes", Endpoint::metrics_probes, "", "metrics"},
      {"/metrics/resource", Endpoint::metrics_resource, "", "metrics"},
      {"/metrics/slis", Endpoint::metrics_slis, "", "metrics"},
      {"/run/ns/pod/main", Endpoint::not_served, ""},
      {"/containerLogs/ns/pod/main", Endpoint::logs, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.target);
    const auto route = read_route("GET", c.target);
    REQUIRE(route);
    CHECK(route->endpoint == c.endpoint);
    CHECK(route->narrower == c.narrower);
    CHECK(route->subresource == c.subresource);
    CHECK(names_pod(route->endpoint) == (c.endpoint == Endpoint::logs));
  }
}

TEST_CASE("what is known and not served is told apart from what is nowhere") {
  struct Case {
    const char* method;
    const char* target;
    int status;  // 501: an endpoint that is not served
    const char* subresource;
  };
  const Case cases[] = {
      {"POST", "/run/ns/pod/main", 501, "proxy"},
      {"POST", "/checkpoint/ns/pod/main", 501, "checkpoint"},
      {"GET", "/logs/syslog", 501, "log"},
      {"GET", "/", 404, ""},
      {"GET", "", 404, ""},
      {"GET", "/healthz/ping", 404, ""},
      {"GET", "/healthzz", 404, ""},
      {"GET", "/stats", 404, ""},
      {"GET", "/stats/container", 404, ""},
      {"GET", "/metrics/other", 404, ""},
      {"GET", "/metrics/resource/v1alpha1", 404, ""},
      {"GET", "/metricsz", 404, ""},
      {"POST", "/metrics", 405, ""},
      {"GET", "/pods/web", 404, ""},
      {"GET", "/runningpods//", 404, ""},
      {"POST", "/pods", 405, ""},
      {"DELETE", "/configz", 405, ""},
      {"GET", "/containerLogs/ns/pod", 404, ""},
      {"GET", "/containerLogs/ns/pod/main/", 404, ""},
      {"GET", "/exec/ns/pod/uid/main", 404, ""},
      {"POST", "/containerLogs/ns/pod/main", 405, ""},
      {"DELETE", "/exec/ns/pod/main", 405, ""},
      {"DELETE", "/attach/ns/pod/main", 405, ""},
      {"GET", "/attach/ns/pod", 404, ""},
      {"GET", "/portForward/ns", 404, ""},
      {"POST", "/portForward/ns/pod/uid", 404, ""},
      {"DELETE", "/portForward/ns/pod", 405, ""},
      {"POST", "/portForward/ns/..", 400, ""},
      {"GET", "/exec//pod/main", 400, ""},
      {"GET", "/exec/ns/../main", 400, ""},
      {"GET", "/exec/ns/a%2fb/main", 400, ""},
      {"GET", "/exec/ns/a%zz/main", 400, ""},
      {"GET", "/exec/ns/Pod/main", 400, ""},
      {"GET", "/exec/ns/a%00b/main", 400, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.target);
    const auto route = read_route(c.method, c.target);
    if (c.status == 501) {
      REQUIRE(route);
      CHECK(route->endpoint == Endpoint::not_served);
      CHECK_FALSE(route->sentence.empty());
      CHECK(route->subresource == c.subresource);
    } else {
      REQUIRE_FALSE(route.has_value());
      CHECK(route.error().status == c.status);
      CHECK_FALSE(route.error().sentence.empty());
    }
  }
}

TEST_CASE("queries are decoded, broken ones refused") {
  CHECK(read_query("a=1&b=x+y%26z&c&&=d").value() == Query{{"a", "1"}, {"b", "x y&z"}, {"c", ""}, {"", "d"}});
  CHECK(read_query("").value().empty());
  CHECK(read_query("a=%").error().status == 400);
  CHECK(read_query("a=%4").error().status == 400);
  CHECK(read_query("%x1=").error().status == 400);
  CHECK(read_query(std::string(70000, 'a')).error().status == 414);
}

TEST_CASE("options of logs: what is absent, what is zero, what cannot be") {
  struct Case {
    const char* query;
    std::expected<kube::PodLogOptions, int> options;
    const char* forwarded;
  };
  const Case cases[] = {
      {"", kube::PodLogOptions{}, ""},
      {"unknown=1", kube::PodLogOptions{}, ""},
      {"follow=true&limitBytes=123&previous=1&sinceSeconds=10&tailLines=99&timestamps=T",
       kube::PodLogOptions{.follow = true,
                           .previous = true,
                           .timestamps = true,
                           .tail_lines = 99,
                           .limit_bytes = 123,
                           .since_seconds = 10},
       "&follow=true&previous=true&timestamps=true&tailLines=99&limitBytes=123&sinceSeconds=10"},
      {"sinceTime=2020-03-20T21%3A07%3A34Z", kube::PodLogOptions{.since_time = "2020-03-20T21:07:34Z"},
       "&sinceTime=2020-03-20T21%3A07%3A34Z"},
      // Not the same as no tailLines: nothing old, then what is new.
      {"tailLines=0&follow=true", kube::PodLogOptions{.follow = true, .tail_lines = 0}, "&follow=true&tailLines=0"},
      {"stream=Stderr", kube::PodLogOptions{.stream = "Stderr"}, "&stream=Stderr"},
      {"follow=false", kube::PodLogOptions{}, ""},
      {"sinceSeconds=1&sinceTime=2020-03-20T21:07:34Z", std::unexpected(400), ""},
      {"tailLines=-1", std::unexpected(400), ""},
      {"tailLines=", std::unexpected(400), ""},
      {"tailLines=1x", std::unexpected(400), ""},
      {"tailLines=99999999999999999999", std::unexpected(400), ""},
      {"limitBytes=0", std::unexpected(400), ""},
      {"sinceSeconds=-10", std::unexpected(400), ""},
      {"sinceSeconds=0", std::unexpected(400), ""},
      {"sinceTime=yesterday", std::unexpected(400), ""},
      {"follow=yes", std::unexpected(400), ""},
      {"stream=Both", std::unexpected(400), ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.query);
    const auto options = read<kube::PodLogOptions>(c.query, read_log_options);
    CHECK(options.has_value() == c.options.has_value());
    if (!options || !c.options) {
      CHECK((options.has_value() ? 200 : options.error()) == (c.options.has_value() ? 200 : c.options.error()));
      continue;
    }
    CHECK(*options == *c.options);
    CHECK(kube::log_request({"milan", "web-0"}, "main", *options).target ==
          "/api/v1/namespaces/milan/pods/web-0/log?container=main" + std::string(c.forwarded));
  }
}

TEST_CASE("options of exec and attach: streams, terminal and command") {
  const auto of = [](Endpoint endpoint) {
    return [endpoint](const Query& query) { return read_command_options(query, endpoint); };
  };
  const auto exec = of(Endpoint::exec), attach = of(Endpoint::attach);
  const auto plain = read<CommandOptions>("command=sh&command=-c&command=echo+%22hi%22&input=1&output=1&error=1", exec);
  REQUIRE(plain);
  CHECK(plain->command == std::vector<std::string>{"sh", "-c", "echo \"hi\""});
  CHECK(plain->streams.in);
  CHECK(plain->streams.out);
  CHECK(plain->streams.err);
  CHECK_FALSE(plain->streams.tty);

  // As kubelets do: a terminal has no stderr of its own.
  const auto terminal = read<CommandOptions>("command=sh&output=1&error=1&tty=1", exec);
  REQUIRE(terminal);
  CHECK(terminal->streams.tty);
  CHECK_FALSE(terminal->streams.err);

  // Attach runs nothing, whatever is named: at the provider an attach with a command would be an exec.
  const auto attached = read<CommandOptions>("input=1&output=1&tty=1&command=sh", attach);
  REQUIRE(attached);
  CHECK(attached->command.empty());
  CHECK(attached->streams.in);

  CHECK(read<CommandOptions>("command=sh", exec).error() == 400);
  CHECK(read<CommandOptions>("", attach).error() == 400);
  CHECK(read<CommandOptions>("command=sh&output=true", exec).error() == 400);
  CHECK(read<CommandOptions>("command=sh&error=1&tty=1", exec).error() == 400);
  CHECK(read<CommandOptions>("output=1", exec).error() == 400);
}
