#include "kubelet/usage_api.hpp"

#include <set>
#include <utility>

#include "core/usage/metrics_api.hpp"
#include "core/usage/own_lines.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/read_failure.hpp"
#include "kube/wire/metrics_text.hpp"
#include "kubelet/answer_sizes.hpp"
#include "kubelet/ask_provider.hpp"
#include "kubelet/node_routes.hpp"
#include "kubelet/plain_text.hpp"
#include "kubelet/usage_texts.hpp"
#include "telemetry/families.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;
using core::NodeUsage;
using core::PodUsageReader;
using core::UsageByPod;
using kube::net::ServerResponse;

// The least memory of a request: an incomplete line, and a piece of the answer.
constexpr std::size_t least_held = 128 * 1024;
constexpr std::size_t max_usage_line = 4 * 1024;
// A pod may have any number of containers, and a provider may invent more: the bound is an average for each pod.
constexpr std::size_t containers_per_pod = 8, more_containers = 64;

/// The path of the provider's kubelets from which an endpoint is answered: the summary is made from the same metrics.
std::string_view asked_path(Endpoint endpoint) {
  return node_path(endpoint == Endpoint::stats_summary ? Endpoint::metrics_resource : endpoint);
}

std::unexpected<Refusal> refuse(std::string sentence) {
  return std::unexpected(Refusal{503, kube::printable(std::move(sentence))});
}

}  // namespace

/// The text of a provider, line by line, up to a bound.
class UsageApi::ProviderText {
 public:
  ProviderText(kube::net::Body& body, std::string provider, std::size_t max_read, kube::wire::MetricLines lines)
      : body_(body), cluster_("cluster " + std::move(provider)), max_read_(max_read), lines_(std::move(lines)) {}

  /// Whether the whole text was read.
  bool is_over() const { return is_over_; }
  /// The lines that end in the next piece. Refusals: 503, if the provider breaks off or sends too much.
  asio::awaitable<std::expected<std::vector<std::string>, Refusal>> next() {
    const auto piece = co_await body_.read();
    if (!piece) co_return refuse(cluster_ + " has broken off what pods use: " + piece.error().text());
    std::vector<std::string> lines = lines_.feed(*piece);
    is_over_ = piece->empty();
    if (is_over_)
      if (auto last = lines_.finish()) lines.push_back(std::move(*last));
    read_ += piece->size();
    if (read_ > max_read_)
      co_return refuse(cluster_ + " sends more than " + std::to_string(max_read_ >> 20U) + " MiB of what pods use");
    co_return lines;
  }

 private:
  kube::net::Body& body_;
  std::string cluster_;
  std::size_t max_read_;
  kube::wire::MetricLines lines_;
  std::size_t read_ = 0;
  bool is_over_ = false;
};

/// A request for the usage of a node, while it is under way.
class UsageApi::Asking {
 public:
  Asking(std::map<std::string, Node>& nodes, std::string node) : nodes_(nodes), node_(std::move(node)) {
    ++nodes_[node_].asked;
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { --nodes_.at(node_).asked; }
  int count() const { return nodes_.at(node_).asked; }

 private:
  std::map<std::string, Node>& nodes_;
  std::string node_;
};

UsageApi::UsageApi(const kube::Environment& environment, UsageSourceOf source, PodsOfNode pods,
                   std::function<std::vector<std::string>()> nodes, UsageSettings settings)
    : clock_(environment.clock),
      source_(std::move(source)),
      pods_(std::move(pods)),
      names_(std::move(nodes)),
      settings_(settings),
      remembered_(environment.metrics.gauge(families::usage_remembered)) {
  const auto requests = [&environment](const char* outcome) {
    return environment.metrics.counter(families::usage_asked, {{"outcome", outcome}});
  };
  served_ = requests("served");
  refused_ = requests("refused");
  cut_ = requests("cut");
}

void UsageApi::forget_gone() {
  const std::vector<std::string> names = names_();
  const std::set<std::string> there(names.begin(), names.end());
  std::erase_if(nodes_, [&](const auto& node) { return node.second.asked == 0 && !there.contains(node.first); });
  std::size_t pods = 0;
  for (const auto& [name, node] : nodes_) pods += node.usage.pods();
  remembered_.set(static_cast<double>(pods));
}

asio::awaitable<std::expected<void, Refusal>> UsageApi::serve(UsageQuestion question, ServerResponse& response) {
  forget_gone();
  const Asking asking(nodes_, question.node);
  if (asking.count() > settings_.max_asked) {
    refused_.add();
    co_return refuse("too many ask for the metrics of node " + question.node + " at once; try again");
  }
  const auto source = source_(question.node);
  if (!source) {
    refused_.add();
    co_return refuse(source.error().text());
  }
  // The time for the answer is limited, whatever the provider and the caller do.
  auto answered = co_await kube::async::with_timeout(clock_, answer(question, *source, response), settings_.timeout);
  if (answered && *answered && response.started()) {
    served_.add();
    co_return std::expected<void, Refusal>();
  }
  if (response.started()) {
    // All that can still be shown is that the answer is incomplete.
    cut_.add();
    response.abort();
    co_return std::expected<void, Refusal>();
  }
  refused_.add();
  if (answered && !*answered) co_return std::unexpected(std::move(answered->error()));
  co_return refuse("cluster " + source->provider + " has not sent all metrics in time");
}

asio::awaitable<std::expected<void, Refusal>> UsageApi::answer(const UsageQuestion& question, const UsageSource& source,
                                                               ServerResponse& response) {
  const auto pods = pods_(question.node);
  if (!pods) co_return refuse(pods.error().text());
  if (!response.hold(least_held + pods->keys.size() * key_size))
    co_return refuse("too many metrics are being read; try again");
  const Endpoint endpoint = question.endpoint;
  const bool is_relayed = endpoint != Endpoint::metrics_resource && endpoint != Endpoint::stats_summary;
  KUBE_CO_TRY(answer, co_await ask(source, asked_path(endpoint)));
  if (!answer.body) {
    // The node is healthy, and a failed scrape would raise the alert that it is not. Kubelets that cannot read the
    // usage of containers answer all the same, and report that by a metric.
    if (endpoint == Endpoint::stats_summary) co_return refuse(std::move(answer.sentence));
    static_cast<void>(
        co_await response.send(200, metrics_text_headers(), text_without_usage(endpoint, answer.sentence)));
    co_return std::expected<void, Refusal>();
  }
  ProviderText text(*answer.body, source.provider, settings_.max_read,
                    is_relayed ? kube::wire::MetricLines() : kube::wire::MetricLines(max_usage_line));
  if (is_relayed) co_return co_await relay(text, source.provider, *pods, response);
  PodUsageReader reader(pods->uid, clock_.wall(), more_containers + containers_per_pod * pods->keys.size());
  KUBE_CO_TRYV(co_await read(text, reader, response));
  // Without the pods no series is known to belong to this node, and all of them would count as ended.
  if (!pods->is_there()) co_return refuse("the session with cluster " + source.provider + " has ended; try again");
  nodes_.at(question.node).usage.take(reader.by_pod(), pods->uid, clock_.wall());
  co_return co_await send_usage(question, reader.by_pod(), *pods, response);
}

asio::awaitable<std::expected<UsageApi::Reply, Refusal>> UsageApi::ask(const UsageSource& source,
                                                                       std::string_view path) {
  kube::HttpRequest request;
  request.target = core::scrape_path(source.consumer, path);
  request.headers = {{"accept", "text/plain"}};
  request.verb = "get";
  request.resource = "scrape";
  request.repeatable = true;
  const std::string cluster = "cluster " + source.provider;
  const kube::Deadline deadline = clock_.deadline_in(settings_.head_timeout);
  auto sending = source.transport->send(std::move(request), deadline);
  auto remote = co_await ask_provider({source.provider, source.upgrader}, clock_, {}, std::move(sending));
  // The failure names a cluster that is unreachable. It is a 502, as for logs, because kubectl does not show the
  // message of a 503.
  if (!remote) co_return std::unexpected(Refusal{502, kube::printable(remote.error().text())});
  const int status = remote->head.status;
  if (status >= 200 && status <= 299) co_return Reply{.body = std::move(remote->body), .sentence = {}};
  const kube::Failure failure = co_await kube::read_failure(*remote, clock_, deadline);
  std::string why = " cannot send now what pods use: " + failure.text();
  if (status == 404) why = " does not report what pods use: it serves no metrics.liqo.io (" + failure.text() + ")";
  if (status == 403) why = " does not let this cluster read what its pods use: " + failure.text();
  co_return Reply{.body = nullptr, .sentence = kube::printable(cluster + why)};
}

asio::awaitable<std::expected<void, Refusal>> UsageApi::read(ProviderText& text, PodUsageReader& reader,
                                                             ServerResponse& response) {
  std::size_t held = 0;
  while (!text.is_over()) {
    KUBE_CO_TRY(lines, co_await text.next());
    for (const std::string& line : lines) reader.take(line);
    if (!response.hold(reader.held() - std::exchange(held, reader.held())))
      co_return refuse("too many metrics are being read; try again");
  }
  co_return std::expected<void, Refusal>();
}

asio::awaitable<std::expected<void, Refusal>> UsageApi::relay(ProviderText& from, const std::string& provider,
                                                              const CachedPods& pods, ServerResponse& response) const {
  core::OwnLines own(pods.uid, clock_.wall());
  const std::size_t max_series = settings_.more_series + settings_.series_per_pod * pods.keys.size();
  std::string text;
  // The response headers wait for the first lines: if the provider breaks off before, the caller gets a refusal with a
  // message.
  bool has_begun = false;
  while (!from.is_over()) {
    KUBE_CO_TRY(lines, co_await from.next());
    for (const std::string& line : lines) text += own.take(line);
    if (own.samples() > max_series)
      co_return refuse("cluster " + provider + " sends more than " + std::to_string(max_series) + " series of " +
                       std::to_string(pods.keys.size()) + " pods");
    if (text.size() < piece_size && !from.is_over()) continue;
    auto sent = kube::Result<void>();
    if (!std::exchange(has_begun, true)) sent = co_await response.start(200, metrics_text_headers());
    if (sent && !text.empty()) sent = co_await response.write(std::exchange(text, {}));
    if (!sent) co_return refuse("the caller is gone");
  }
  if (!pods.is_there()) co_return refuse("the session with cluster " + provider + " has ended; try again");
  co_return std::expected<void, Refusal>();
}

asio::awaitable<std::expected<void, Refusal>> UsageApi::send_usage(const UsageQuestion& question,
                                                                   const UsageByPod& by_pod, const CachedPods& pods,
                                                                   ServerResponse& response) {
  // The Node stays in the map while a request is under way.
  const NodeUsage& usage = nodes_.at(question.node).usage;
  if (question.endpoint == Endpoint::metrics_resource) {
    ResourceText text(by_pod, usage.node());
    auto sent = co_await response.start(200, metrics_text_headers());
    for (std::string piece = text.next(); sent && !piece.empty(); piece = text.next())
      sent = co_await response.write(piece);
    if (!sent) co_return refuse("the caller is gone");
    co_return std::expected<void, Refusal>();
  }
  auto sent = co_await response.start(200, {{"content-type", "application/json"}});
  std::string text =
      R"({"node":)" + json::serialize(node_statistics(question.node, question.started, usage.node())) + R"(,"pods":[)";
  bool is_first = true;
  for (const auto& [key, used] : by_pod) {
    const auto pod = pods.find(key);
    if (!pod) continue;
    if (!std::exchange(is_first, false)) text += ",";
    text += json::serialize(pod_statistics(*pod, used, usage));
    if (text.size() < piece_size) continue;
    if (sent) sent = co_await response.write(std::exchange(text, {}));
    if (!sent) break;
  }
  // Half of the pods would look like all of them.
  if (!pods.is_there()) co_return refuse("the session with the provider has ended; try again");
  if (sent) sent = co_await response.write(text + "]}\n");
  if (!sent) co_return refuse("the caller is gone");
  co_return std::expected<void, Refusal>();
}

}  // namespace liqo::kubelet
