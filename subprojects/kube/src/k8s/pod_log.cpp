#include "kube/k8s/pod_log.hpp"
#include "kube/base/url.hpp"

#include <utility>
#include <vector>

namespace kube {

HttpRequest log_request(const ObjectKey& pod, std::string_view container, const PodLogOptions& options) {
  HttpRequest request;
  RequestTarget target(resources::pods.path(pod.ns, pod.name) + "/log");
  target.add_if("container", container);
  if (options.follow) target.add("follow", "true");
  if (options.previous) target.add("previous", "true");
  if (options.timestamps) target.add("timestamps", "true");
  if (options.tail_lines) target.add("tailLines", std::to_string(*options.tail_lines));
  if (options.limit_bytes) target.add("limitBytes", std::to_string(*options.limit_bytes));
  if (options.since_seconds) target.add("sinceSeconds", std::to_string(*options.since_seconds));
  target.add_if("sinceTime", options.since_time).add_if("stream", options.stream);
  request.target = target.take();
  request.verb = "get";
  request.resource = resources::pods.plural;
  request.repeatable = true;
  // A log that is not followed lasts as long as its reader takes, too.
  request.open_ended = true;
  return request;
}

}  // namespace kube
