#include "kubelet/node_api.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "kubelet/answer_sizes.hpp"
#include "kubelet/node_configuration.hpp"
#include "kubelet/plain_text.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;

// The number of pods that are looked at before other work has its turn.
constexpr std::size_t max_pods_in_a_turn = 32;

json::object whole_pod(const kube::Object& pod) {
  json::object tree = pod.tree();
  // As in every list, the kind of the list determines that of the items.
  tree.erase("apiVersion");
  tree.erase("kind");
  return tree;
}

}  // namespace

std::unexpected<kube::Failure> PortOwners::refuse_pod(const std::string& pod) const {
  const std::string node = only();
  return kube::fail(kube::Errc::missing, "pod " + pod + " does not run on " +
                                             (node.empty() ? "a virtual node that has this port" : "node " + node));
}

std::optional<json::object> running_pod(const kube::Object& pod) {
  json::array containers;
  for (const std::string_view list : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"})
    for (const json::value& status : kube::array_at(pod.status(), {list})) {
      if (!kube::object_at(status, {"state"}).contains("running")) continue;
      containers.push_back(json::object{{"name", kube::string_at(status, {"name"})},
                                        {"image", kube::string_at(status, {"image"})},
                                        {"resources", json::object()}});
    }
  if (containers.empty()) return std::nullopt;
  return json::object{
      {"metadata", json::object{{"name", pod.name()}, {"namespace", pod.ns()}, {"uid", pod.uid()}}},
      {"spec", json::object{{"containers", std::move(containers)}}},
      {"status", json::object()},
  };
}

asio::awaitable<std::expected<void, Refusal>> NodeApi::serve(const Route& route, const PortOwners& owners,
                                                             kube::net::ServerResponse& response) const {
  if (route.endpoint == Endpoint::not_served) co_return std::unexpected(Refusal{501, std::string(route.sentence)});
  if (owners.is_empty()) co_return std::unexpected(Refusal{404, "no virtual node has this port"});
  const std::string node = owners.only();
  if (node.empty())
    co_return std::unexpected(
        Refusal{501, "this port is that of several virtual nodes, so a path that names no pod is of none of them"});
  if (route.endpoint == Endpoint::healthz) {
    // A caller that is gone needs no answer.
    static_cast<void>(co_await response.send(200, plain_text_headers(), "ok"));
    co_return std::expected<void, Refusal>();
  }
  if (route.endpoint == Endpoint::pods || route.endpoint == Endpoint::running_pods)
    co_return co_await serve_pods(node, route.endpoint == Endpoint::running_pods, response);
  if (route.endpoint == Endpoint::metrics_slis) {
    // These are checks of a kubelet's components, of which a virtual node has none: a scrape without samples is valid.
    static_cast<void>(co_await response.send(200, metrics_text_headers(), std::string()));
    co_return std::expected<void, Refusal>();
  }
  const auto object = find_node_(node);
  if (!object) co_return std::unexpected(Refusal{503, "node " + node + " is not there"});
  if (route.endpoint == Endpoint::configz) {
    static_cast<void>(co_await response.send(200, {{"content-type", "application/json"}},
                                             json::serialize(node_configuration(*object))));
    co_return std::expected<void, Refusal>();
  }
  std::string started(kube::string_at(object->metadata(), {"creationTimestamp"}));
  co_return co_await usage_->serve({.endpoint = route.endpoint, .node = node, .started = std::move(started)}, response);
}

asio::awaitable<std::expected<void, Refusal>> NodeApi::serve_pods(const std::string& node, bool running_only,
                                                                  kube::net::ServerResponse& response) const {
  const auto pods = pods_(node);
  if (!pods) co_return std::unexpected(Refusal{503, pods.error().text()});
  if (!response.hold(pods->keys.size() * key_size))
    co_return std::unexpected(Refusal{503, "too many lists are being read; try again"});
  auto sent = co_await response.start(200, {{"content-type", "application/json"}});
  std::string text = R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)";
  bool is_first = true;
  std::size_t looked_at = 0;
  for (const kube::ObjectKey& key : pods->keys) {
    if (!sent) co_return std::expected<void, Refusal>();
    if (++looked_at % max_pods_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
    const auto pod = pods->find(key);
    const auto entry = !pod ? std::nullopt : running_only ? running_pod(*pod) : std::optional(whole_pod(*pod));
    if (!entry) continue;
    if (!std::exchange(is_first, false)) text += ",";
    text += json::serialize(*entry);
    if (text.size() < piece_size) continue;
    sent = co_await response.write(std::exchange(text, {}));
  }
  // Half a list would look like a whole one.
  if (!pods->is_there())
    response.abort();
  else if (sent)
    static_cast<void>(co_await response.write(text + "]}\n"));
  co_return std::expected<void, Refusal>();
}

}  // namespace liqo::kubelet
