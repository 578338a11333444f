#include "kubelet/routes.hpp"

#include <array>

#include "core/common/names.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/time.hpp"
#include "kube/base/url.hpp"
#include "kubelet/node_routes.hpp"

namespace liqo::kubelet {
namespace {

constexpr std::size_t max_query = 64 * 1024;

std::unexpected<Refusal> refuse(int status, std::string sentence) {
  return std::unexpected(Refusal{status, std::move(sentence)});
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

/// The verb of a method, as kubelets derive it (pkg/kubelet/server/auth.go). Whatever runs or changes something in a
/// pod is a "create", also by the GET of a WebSocket, because the right to read a node's statistics must not let
/// commands run in its pods.
std::string_view verb_of(std::string_view endpoint, std::string_view method) {
  if (endpoint == "exec" || endpoint == "attach" || endpoint == "portForward" || endpoint == "run") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

struct Unserved {
  std::string_view first;  // segment of the path
  std::string_view subresource;
  std::string_view sentence;
};
constexpr std::array<Unserved, 3> unserved = {{
    {"run", "proxy", "run is not served by virtual nodes: exec runs commands"},
    {"logs", "log", "logs of the node are not served by virtual nodes: it has none"},
    {"checkpoint", "checkpoint", "checkpoints are not served by virtual nodes: containers run in another cluster"},
}};

}  // namespace

std::expected<Route, Refusal> read_route(std::string_view method, std::string_view target) {
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  Route route;
  if (mark != std::string_view::npos) route.query = std::string(target.substr(mark + 1));
  const auto segments = split_path(path);
  const std::string_view first = segments.front();
  route.verb = verb_of(first, method);

  const bool logs = first == "containerLogs";
  const bool forward = first == "portForward";
  if (logs || forward || first == "exec" || first == "attach") {
    // Kubelets serve these paths also with the pod's UID as one more segment, which API servers never send.
    if (segments.size() != (forward ? 3 : 4)) return refuse(404, "there is nothing at this path");
    const std::array<std::string*, 3> names = {&route.ns, &route.pod, &route.container};
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
      auto name = kube::percent_decode(segments[i + 1]);
      if (!name || !core::is_path_name(*name)) return refuse(400, "the path names no namespace, pod and container");
      *names[i] = std::move(*name);
    }
    if (method != "GET" && (logs || method != "POST")) return refuse(405, "the method is not allowed here");
    route.endpoint = logs              ? Endpoint::logs
                     : forward         ? Endpoint::port_forward
                     : first == "exec" ? Endpoint::exec
                                       : Endpoint::attach;
    // Kubelets' sub-resource "log" is for the logs of the node itself.
    route.subresource = "proxy";
    return route;
  }
  if (auto route_of_node = read_node_route(method, path)) return std::move(*route_of_node);
  for (const Unserved& entry : unserved) {
    if (first != entry.first) continue;
    route.subresource = entry.subresource;
    route.sentence = entry.sentence;
    return route;
  }
  return refuse(404, "there is nothing at this path");
}

std::expected<Query, Refusal> read_query(std::string_view query) {
  if (query.size() > max_query) return refuse(414, "the query is longer than 64 KiB");
  Query out;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = kube::percent_decode(pair.substr(0, equals), true);
    auto value =
        kube::percent_decode(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!name || !value) return refuse(400, "the query is not percent-encoded as it should be");
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

std::expected<kube::PodLogOptions, Refusal> read_log_options(const Query& query) {
  kube::PodLogOptions options;
  for (const auto& [name, value] : query) {
    bool* flag = name == "follow"       ? &options.follow
                 : name == "previous"   ? &options.previous
                 : name == "timestamps" ? &options.timestamps
                                        : nullptr;
    if (flag) {
      const auto read = kube::read_bool(value);
      if (!read) return refuse(400, "the parameter " + name + " is neither true nor false");
      *flag = *read;
      continue;
    }
    std::optional<std::int64_t>* number = name == "tailLines"      ? &options.tail_lines
                                          : name == "limitBytes"   ? &options.limit_bytes
                                          : name == "sinceSeconds" ? &options.since_seconds
                                                                   : nullptr;
    if (number) {
      const std::int64_t least = name == "tailLines" ? 0 : 1;
      *number = kube::read_number<std::int64_t>(value);
      if (!*number || **number < least) {
        return refuse(400, "the parameter " + name + " is not a number of at least " + std::to_string(least));
      }
    } else if (name == "sinceTime") {
      if (!kube::parse_time(value)) return refuse(400, "the parameter sinceTime is not a time as in RFC 3339");
      options.since_time = value;
    } else if (name == "stream") {
      if (value != "All" && value != "Stdout" && value != "Stderr") {
        return refuse(400, "the parameter stream is none of All, Stdout and Stderr");
      }
      options.stream = value;
    }
  }
  if (options.since_seconds && !options.since_time.empty()) {
    return refuse(400, "only one of sinceSeconds and sinceTime may be given");
  }
  return options;
}

std::expected<CommandOptions, Refusal> read_command_options(const Query& query, Endpoint endpoint) {
  CommandOptions options;
  for (const auto& [name, value] : query) {
    const bool on = value == "1";
    if (name == "command" && endpoint == Endpoint::exec) options.command.push_back(value);
    if (name == "input") options.streams.in = on;
    if (name == "output") options.streams.out = on;
    if (name == "error") options.streams.err = on;
    if (name == "tty") options.streams.tty = on;
  }
  if (options.streams.tty) options.streams.err = false;
  if (!options.streams.in && !options.streams.out && !options.streams.err) {
    return refuse(400, "you must specify at least one of stdin, stdout and stderr");
  }
  if (options.command.empty() && endpoint == Endpoint::exec) return refuse(400, "you must specify a command");
  return options;
}

}  // namespace liqo::kubelet
