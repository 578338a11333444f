// The load of tools/bench admission: an open loop of ShadowPod creations. The times of sending are fixed before the
// first one, and do not depend on the answers. A request's latency counts from its planned time, so a server that
// stalls cannot hide it by getting fewer requests. Beyond a level, admitted ShadowPods are deleted again, oldest first,
// so that the quota stays equally full. Prints one JSON object.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <ctime>
#include <deque>
#include <iostream>
#include <map>

#include "kube/async/task_group.hpp"
#include "kube/k8s/request.hpp"
#include "kube/net/http/http_client.hpp"
#include "read_credentials.hpp"

namespace {

namespace asio = boost::asio;
namespace json = kube::json;

constexpr kube::Resource shadow_pods{"offloading.liqo.io", "v1beta1", "shadowpods", "ShadowPod"};
constexpr kube::Duration patience = std::chrono::seconds(30);

struct Options {
  std::string kubeconfig, ns, origin;
  std::string prefix = "load";
  bool large = false;             ///< pods
  double rate = 300;              ///< creations per second
  double seconds = 60;            ///< duration of sending
  std::size_t level = 1'000;      ///< admitted ShadowPods beyond this many are deleted again
  std::size_t refuse_every = 20;  ///< every n-th asks for more than the quota has; 0 = none
};

/// The requests of the pod of that number: every n-th asks for more than the quota has.
json::object amounts(const Options& options, std::size_t number) {
  const bool too_much = options.refuse_every != 0 && number % options.refuse_every == options.refuse_every - 1;
  return {{"cpu", too_much ? "100k" : "150m"}, {"memory", "192Mi"}};
}

/// A pod of one container, about 0.5 KB with its envelope.
json::object small_pod(json::object requests) {
  return {{"containers",
           {{{"name", "main"},
             {"image", "registry.example.org/web:1.4.2"},
             {"resources", {{"requests", std::move(requests)}}}}}}};
}

/// A pod as consumers send it, about 1.2 KB with its envelope.
json::object large_pod(json::object requests) {
  return {{"containers",
           {{{"name", "main"},
             {"image", "registry.example.org/web:1.4.2"},
             {"imagePullPolicy", "IfNotPresent"},
             {"command", {"/bin/sh", "-c", "exec web --port 8080"}},
             {"env", {{{"name", "MODE"}, {"value", "production"}}, {{"name", "REGION"}, {"value", "eu-south-1"}}}},
             {"ports", {{{"name", "http"}, {"containerPort", 8080}, {"protocol", "TCP"}}}},
             {"resources", {{"requests", std::move(requests)}}},
             {"volumeMounts", {{{"name", "scratch"}, {"mountPath", "/scratch"}}}},
             {"terminationMessagePath", "/dev/termination-log"},
             {"terminationMessagePolicy", "File"}},
            {{"name", "proxy"},
             {"image", "registry.example.org/proxy:2.0.1"},
             {"imagePullPolicy", "IfNotPresent"},
             {"terminationMessagePath", "/dev/termination-log"},
             {"terminationMessagePolicy", "File"}}}},
          {"volumes", {{{"name", "scratch"}, {"emptyDir", json::object{}}}}},
          {"restartPolicy", "Always"},
          {"dnsPolicy", "ClusterFirst"},
          {"enableServiceLinks", true},
          {"terminationGracePeriodSeconds", 30},
          {"securityContext", json::object{}},
          {"tolerations",
           {{{"key", "node.kubernetes.io/not-ready"},
             {"operator", "Exists"},
             {"effect", "NoExecute"},
             {"tolerationSeconds", 300}}}}};
}

kube::Object forge(const Options& options, std::size_t number) {
  auto shadow = kube::Object::make(shadow_pods, {options.ns, options.prefix + "-" + std::to_string(number)});
  shadow.set_label("offloading.liqo.io/origin", options.origin);
  json::object requests = amounts(options, number);
  shadow.mutable_spec()["pod"] = options.large ? large_pod(std::move(requests)) : small_pod(std::move(requests));
  return shadow;
}

double milliseconds(kube::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

/// The value below which that fraction of the values lies.
double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto rank = std::min(values.size() - 1, std::size_t(part * double(values.size())));
  std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(rank));
  return values[rank];
}

json::object quantiles(std::vector<double>& values) {
  return {{"p50", quantile(values, 0.5)},
          {"p90", quantile(values, 0.9)},
          {"p99", quantile(values, 0.99)},
          {"max", quantile(values, 1)}};
}

class Load {
 public:
  Load(const asio::any_io_executor& executor, const Options& options, kube::async::Clock& clock,
       kube::net::Transport& server)
      : options_(options), clock_(clock), server_(server), tasks_(executor) {}

  asio::awaitable<void> run() {
    const auto count = std::size_t(options_.rate * options_.seconds);
    // All requests are made beforehand, so that making them delays nothing.
    std::vector<kube::HttpRequest> requests;
    requests.reserve(count);
    for (std::size_t number = 0; number < count; ++number)
      requests.push_back(kube::request::create(shadow_pods, forge(options_, number)));
    body_bytes_ = requests.front().body.size();
    const kube::TimePoint began = clock_.now() + std::chrono::milliseconds(100);
    for (std::size_t number = 0; number < count; ++number) {
      const auto planned = began + std::chrono::duration_cast<kube::Duration>(
                                       std::chrono::duration<double>(double(number) / options_.rate));
      if (planned > clock_.now()) co_await clock_.sleep_until(planned);
      late_.push_back(milliseconds(clock_.now() - planned));
      tasks_.spawn(create(number, std::move(requests[number]), planned));
    }
    span_ = std::chrono::duration<double>(clock_.now() - began).count();
    co_await tasks_.join();
  }

  json::object figures() {
    json::object codes;
    for (const auto& [code, count] : codes_) codes[code] = count;
    return {{"sent", late_.size()},
            {"seconds", span_},
            {"body_bytes", body_bytes_},
            {"answers", std::move(codes)},
            {"deleted", deleted_},
            {"deletions_failed", deletions_failed_},
            {"late_ms", quantiles(late_)},
            {"latency_ms", quantiles(latencies_)},
            {"cpu_seconds", double(std::clock()) / CLOCKS_PER_SEC}};
  }

 private:
  /// The status of the answer; 0 with the error.
  asio::awaitable<std::pair<int, std::string>> exchange(kube::HttpRequest request) {
    const kube::Deadline deadline = clock_.deadline_in(patience);
    auto answer = co_await server_.send(std::move(request), deadline);
    if (!answer) co_return std::pair(0, answer.error().text());
    std::string body;
    while (true) {
      auto piece = co_await answer->body->read();
      if (!piece) co_return std::pair(0, piece.error().text());
      if (piece->empty()) break;
      if (answer->head.status >= 400) body += *piece;
    }
    co_return std::pair(answer->head.status, std::move(body));
  }

  asio::awaitable<void> create(std::size_t number, kube::HttpRequest request, kube::TimePoint planned) {
    const auto [status, body] = co_await exchange(std::move(request));
    latencies_.push_back(milliseconds(clock_.now() - planned));
    ++codes_[std::to_string(status)];
    if (status != 201 && status != 403 && codes_[std::to_string(status)] <= 3)
      std::cerr << "admission_load: " << status << ": " << body << "\n";
    if (status != 201) co_return;
    admitted_.push_back(number);
    if (admitted_.size() > options_.level) tasks_.spawn(remove_oldest());
  }

  asio::awaitable<void> remove_oldest() {
    const std::size_t number = admitted_.front();
    admitted_.pop_front();
    const auto [status, body] = co_await exchange(
        kube::request::remove(shadow_pods, {options_.ns, options_.prefix + "-" + std::to_string(number)}));
    ++(status == 200 ? deleted_ : deletions_failed_);
    if (status != 200 && deletions_failed_ <= 3) std::cerr << "admission_load: deletion: " << status << body << "\n";
  }

  const Options& options_;
  kube::async::Clock& clock_;
  kube::net::Transport& server_;
  kube::async::TaskGroup tasks_;
  std::deque<std::size_t> admitted_;  ///< not deleted yet, oldest first
  std::map<std::string, std::size_t> codes_;
  std::vector<double> late_, latencies_;  ///< ms after the planned time: sent, answered
  std::size_t deleted_ = 0, deletions_failed_ = 0, body_bytes_ = 0;
  double span_ = 0;
};

asio::awaitable<kube::Result<json::object>> run(const Options& options) {
  auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  KUBE_CO_TRY(credentials, liqo::bench::read_credentials(options.kubeconfig, clock));
  kube::net::HttpClient client(executor, clock, std::move(credentials));
  Load load(executor, options, clock, client);
  co_await load.run();
  co_await client.stop();
  co_return load.figures();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Creates ShadowPods at fixed times, whatever becomes of them, and tells how long each took");
  app.add_option("--kubeconfig", options.kubeconfig, "the identity of a consumer's slice at the provider")->required();
  app.add_option("--namespace", options.ns, "where they are created")->required();
  app.add_option("--origin", options.origin, "the consumer's cluster ID")->required();
  app.add_option("--prefix", options.prefix, "of their names")->capture_default_str();
  app.add_option("--rate", options.rate, "creations per second")->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long")->capture_default_str();
  app.add_option("--level", options.level, "admitted ones beyond so many are deleted again")->capture_default_str();
  app.add_option("--refuse-every", options.refuse_every, "each so many-th asks for more than there is; 0: none")
      ->capture_default_str();
  app.add_flag("--large", options.large, "pods of two containers with all that consumers send along");
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  kube::Result<json::object> ended = json::object();
  std::exception_ptr thrown;
  asio::co_spawn(io, run(options), [&](std::exception_ptr exception, kube::Result<json::object> result) {
    thrown = std::move(exception);
    ended = std::move(result);
  });
  io.run();
  if (!thrown && ended) {
    std::cout << json::serialize(*ended) << "\n";
    return 0;
  }
  std::cerr << "admission_load: " << (thrown ? kube::async::describe(thrown) : ended.error().text()) << "\n";
  return 1;
}
