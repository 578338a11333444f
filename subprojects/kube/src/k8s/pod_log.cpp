#include "kube/k8s/pod_log.hpp"
#include "kube/base/url.hpp"

#include <utility>
#include <vector>

namespace kube {

HttpRequest log_request(const ObjectKey& pod, std::string_view container, const PodLogOptions& options) {
  HttpRequest request;
  request.target = resources::pods.path(pod.ns, pod.name) + "/log";
  char separator = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    request.target += separator;
    request.target.append(name).append("=").append(percent_encode(value));
    separator = '&';
  };
  if (!container.empty()) add("container", container);
  if (options.follow) add("follow", "true");
  if (options.previous) add("previous", "true");
  if (options.timestamps) add("timestamps", "true");
  if (options.tail_lines) add("tailLines", std::to_string(*options.tail_lines));
  if (options.limit_bytes) add("limitBytes", std::to_string(*options.limit_bytes));
  if (options.since_seconds) add("sinceSeconds", std::to_string(*options.since_seconds));
  if (!options.since_time.empty()) add("sinceTime", options.since_time);
  if (!options.stream.empty()) add("stream", options.stream);
  request.verb = "get";
  request.resource = resources::pods.plural;
  request.repeatable = true;
  // One that is not followed lasts as long as its reader takes, too.
  request.open_ended = true;
  return request;
}

}  // namespace kube
