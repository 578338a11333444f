// An admission webhook: refuses ConfigMaps without an owner's name, in namespaces labelled example.com/owners=true.
//     webhook IP PORT     the API server reaches this process at https://IP:PORT
#include <iostream>
#include <optional>

#include "connect.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/scalar.hpp"
#include "kube/client/api.hpp"
#include "kube/k8s/admission.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/http/plain_text.hpp"
#include "kube/wire/server_url.hpp"
#include "serving_certificate.hpp"

namespace {

namespace asio = boost::asio;
using kube::admission::Answer;
using kube::admission::Request;

constexpr kube::Resource configurations{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                        "ValidatingWebhookConfiguration", false};

Answer decide(const Request& request) {
  if (!request.object.label("example.com/owner").empty()) return Answer::allow();
  return Answer::deny("the ConfigMap has no label example.com/owner: add the label with the name of its owner");
}

asio::awaitable<void> review(const kube::net::ServerRequest& request, kube::net::ServerResponse& response) {
  const auto asked = kube::admission::decode_review(request.body);
  if (!asked) {
    co_await kube::net::send_text(response, 400, asked.error().text());
    co_return;
  }
  static_cast<void>(co_await response.send(200, {{"content-type", "application/json"}},
                                           kube::admission::encode_review(asked->uid, decide(*asked))));
}

/// The configuration that gives the API server our address and the authority of our certificate.
kube::Object configuration(const std::string& url, const std::string& authority) {
  using kube::json::array, kube::json::object;
  kube::Object made = kube::Object::make(configurations, {"", "example-owners"});
  const object rule{{"apiGroups", array{""}},
                    {"apiVersions", array{"v1"}},
                    {"operations", array{"CREATE", "UPDATE"}},
                    {"resources", array{"configmaps"}}};
  made.tree()["webhooks"] =
      array{object{{"name", "owners.example.com"},
                   {"clientConfig", object{{"url", url}, {"caBundle", kube::encode_base64(authority)}}},
                   {"rules", array{rule}},
                   {"namespaceSelector", object{{"matchLabels", object{{"example.com/owners", "true"}}}}},
                   // The configuration outlives the program: nobody's writes are to fail when it has ended.
                   {"failurePolicy", "Ignore"},
                   {"sideEffects", "None"},
                   {"admissionReviewVersions", array{"v1"}}}};
  return made;
}

asio::awaitable<void> keep_and_serve(example::ServingCertificate& certificate, kube::net::HttpServer& server,
                                     kube::async::TaskGroup& keeper) {
  keeper.spawn(certificate.keep());
  co_await server.serve();
}

asio::awaitable<kube::Result<void>> serve(example::Cluster cluster, std::string ip, std::uint16_t port) {
  const kube::Environment& environment = cluster.environment;
  const kube::net::CertificateSubject subject{.common_name = "example-owners", .ip_addresses = {ip}};
  std::optional<kube::net::HttpServer> server;
  example::ServingCertificate certificate(
      environment.clock, subject, [&server](kube::net::TlsContext tls) { server->replace_tls(std::move(tls)); });
  KUBE_CO_TRY(tls, certificate.begin());
  server.emplace(environment.executor, environment.clock,
                 kube::net::HttpServerOptions{.address = ip, .port = port, .tls = tls}, review);
  KUBE_CO_TRYV(server->listen());

  kube::Api api(cluster.client, environment.clock, environment.random, environment.metrics, {.cluster = cluster.name});
  const std::string url = kube::wire::ServerUrl{.tls = true, .host = ip, .port = port, .path = {}}.text();
  KUBE_CO_TRYV(co_await api.apply(configurations, configuration(url, certificate.authority_pem()), "example-owners"));
  std::cout << "asked at " << url << std::endl;
  kube::async::TaskGroup keeper(environment.executor);
  co_await kube::async::finally(keep_and_serve(certificate, *server, keeper), keeper.stop());
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = kube::read_number<std::uint16_t>(argc == 3 ? argv[2] : "");
  if (!port || *port == 0) {
    std::cerr << "webhook IP PORT\n";
    return 2;
  }
  return example::run("webhook", [ip = std::string(argv[1]), port = *port](example::Cluster cluster) {
    return serve(cluster, ip, port);
  });
}
