// Requests of callers to the kubelet API: a line with method and target, then lines of headers. A path that is
// understood can be written again with the same meaning, and nothing in a path or query leads to another pod, or to
// more.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/url.hpp"
#include "kube/client/remote_command.hpp"
#include "kube/k8s/resource.hpp"
#include "kubelet/exec_server.hpp"
#include "kubelet/port_forward_server.hpp"
#include "kubelet/routes.hpp"

namespace {

using namespace liqo::kubelet;

void check(bool holds) {
  if (!holds) std::abort();
}

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

bool is_plain(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

void check_options(const Route& route) {
  const auto query = read_query(route.query);
  if (!query) return;
  std::string again;
  for (const auto& [name, value] : *query)
    again += kube::percent_encode(name) + "=" + kube::percent_encode(value) + "&";
  // Characters of three bytes each may be more than a query can have.
  if (const auto same = read_query(again)) check(*same == *query);
  if (const auto options = read_log_options(*query); options && route.endpoint == Endpoint::logs) {
    const std::string target = kube::log_request({route.ns, route.pod}, route.container, *options).target;
    const auto asked = read_query(std::string_view(target).substr(target.find('?') + 1));
    check(asked && asked->front() == std::pair<std::string, std::string>("container", route.container));
    const auto read = read_log_options(*asked);
    check(read && *read == *options);
  }
  for (const Endpoint endpoint : {Endpoint::exec, Endpoint::attach}) {
    const auto options = read_command_options(*query, endpoint);
    if (!options) continue;
    check(options->command.empty() == (endpoint == Endpoint::attach));
    check(!(options->streams.tty && options->streams.err));
    const kube::HttpRequest request = kube::to_request({.ns = route.ns,
                                                        .pod = route.pod,
                                                        .container = route.container,
                                                        .command = options->command,
                                                        .streams = options->streams},
                                                       "POST");
    const auto asked = read_query(std::string_view(request.target).substr(request.target.find('?') + 1));
    if (!asked) continue;  // longer than what is taken here
    std::vector<std::string> command;
    for (const auto& [name, value] : *asked)
      if (name == "command") command.push_back(value);
    check(command == options->command);
  }
}

void check_route(const Route& route, std::string_view method) {
  check(!route.subresource.empty());
  if (!names_pod(route.endpoint)) {
    check(route.ns.empty() && route.pod.empty() && route.container.empty());
    return;
  }
  const bool is_forward = route.endpoint == Endpoint::port_forward;
  check(is_plain(route.ns) && is_plain(route.pod) && is_forward == route.container.empty());
  check(is_forward || is_plain(route.container));
  check(route.verb == (route.endpoint == Endpoint::logs ? "get" : "create") && route.subresource == "proxy");
  const std::string first = route.endpoint == Endpoint::logs   ? "containerLogs"
                            : route.endpoint == Endpoint::exec ? "exec"
                            : is_forward                       ? "portForward"
                                                               : "attach";
  std::string path = "/" + first + "/" + route.ns + "/" + route.pod;
  if (!is_forward) path += "/" + route.container;
  const auto again = read_route(method, path);
  check(again && again->endpoint == route.endpoint && again->ns == route.ns && again->pod == route.pod &&
        again->container == route.container && again->verb == route.verb && again->query.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::string_view line = take_until(rest, '\n');
  kube::net::ServerRequest request;
  request.method = std::string(take_until(line, ' '));
  request.target = std::string(line);
  if (const auto route = read_route(request.method, request.target)) {
    check_route(*route, request.method);
    if (names_pod(route->endpoint)) check_options(*route);
  }
  while (!rest.empty()) {
    std::string_view header = take_until(rest, '\n');
    const std::string_view name = take_until(header, ':');
    request.headers.emplace_back(name, header);
  }
  if (const auto upgrade = read_exec_upgrade(request)) {
    check(!upgrade->headers.empty());
    check(upgrade->make_codec({.in = true, .out = true, .err = true}) != nullptr);
  }
  if (const auto headers = read_port_forward_upgrade(request)) check(!headers->empty());
  return 0;
}
