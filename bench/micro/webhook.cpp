// A review through the webhook's HTTPS server on this machine's own network, including the client's half.
#include "webhook/admission_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "kube/async/task_group.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/tls/x509.hpp"
#include "micro.hpp"
#include "sample_review.hpp"

namespace bench {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using liqo::core::admission::Answer;
using liqo::core::admission::Request;

kube::net::KeyAndCertificate make_certificate() {
  kube::net::CertificateSubject subject;
  subject.common_name = "webhook";
  subject.ip_addresses = {"127.0.0.1"};
  return *kube::net::make_self_signed(subject, kube::async::RealClock().wall(), 1h);
}

/// Server and client on one loop.
class Pair {
 public:
  Pair() : tasks_(io_.get_executor(), kube::async::TaskGroup::OnFailure::keep_others) {
    server_.route("/yes", liqo::webhook::Rule([](const Request&) { return Answer::allow(); }));
    const auto port = server_.listen();
    if (!port) std::abort();
    kube::wire::ClusterConfig config;
    config.server = *kube::wire::parse_server_url("https://127.0.0.1:" + std::to_string(*port));
    config.ca_pem = pair_.certificate_pem;
    auto credentials = kube::net::Credentials::make(std::move(config), clock_);
    if (!credentials) std::abort();
    client_.emplace(io_.get_executor(), clock_, std::move(*credentials));
    tasks_.spawn(server_.run());
    request_.method = "POST";
    request_.target = "/yes?timeout=10s";
    request_.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
    request_.body = sample_review();
  }
  ~Pair() {
    asio::co_spawn(io_, end(), [](const std::exception_ptr&) {});
    io_.restart();
    io_.run();
  }

  /// Sends `count` reviews, all at once, and reads the answers.
  void exchange(int count) {
    left_ = count;
    for (int sent = 0; sent < count; ++sent) tasks_.spawn(send());
    io_.restart();
    while (left_ > 0) io_.run_one();
  }

 private:
  asio::awaitable<void> end() {
    co_await client_->stop();
    co_await tasks_.stop();
  }
  asio::awaitable<void> send() {
    auto answer = co_await client_->send(request_, clock_.deadline_in(10s));
    if (!answer || answer->head.status != 200) std::abort();
    while (true) {
      auto piece = co_await answer->body->read();
      if (!piece || piece->empty()) break;
    }
    --left_;
  }

  asio::io_context io_{1};
  kube::async::RealClock clock_;
  kube::Random random_{1};
  kube::Metrics metrics_;
  const kube::net::KeyAndCertificate pair_ = make_certificate();
  liqo::webhook::AdmissionServer server_{
      {io_.get_executor(), clock_, random_, metrics_},
      *kube::net::TlsContext::server(
          {.certificate_pem = pair_.certificate_pem, .key_pem = pair_.key_pem, .client_ca_pem = {}}),
      {.address = "127.0.0.1", .port = 0}};
  kube::async::TaskGroup tasks_;
  std::optional<kube::net::HttpClient> client_;
  kube::HttpRequest request_;
  int left_ = 0;
};

}  // namespace

void measure_webhook(Runner& runner) {
  constexpr int side_by_side = 8;
  Pair pair;
  runner.measure(
      "webhook: a review over TLS", side_by_side, [&] { pair.exchange(side_by_side); },
      "8 side by side; the client's half is in it");
}

}  // namespace bench
