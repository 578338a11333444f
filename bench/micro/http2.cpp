#include "kube/wire/http2_session.hpp"
#include "micro.hpp"
#include "sample_pod.hpp"
#include "support/h2_server.hpp"

namespace bench {
namespace {

using kube::wire::Http2Session;

/// A client session and a server, joined without sockets. Every request gets `answer`.
class Pair {
 public:
  explicit Pair(std::string answer) : answer_(std::move(answer)) {
    server_.on_request = [this](kube::test::H2Server& server, std::int32_t id, const kube::test::H2Server::Request&) {
      server.answer(id, 200, answer_, {{"content-type", "application/json"}, {"cache-control", "no-cache, private"}});
    };
  }

  /// Sends `count` requests side by side and reads all answers.
  void exchange(const kube::HttpRequest& request, int count) {
    const std::vector<std::pair<std::string, std::string>> extra{{"authorization", "Bearer sample"}};
    for (int sent = 0; sent < count; ++sent) keep(client_.submit(request, {"https", "rome:6443"}, extra));
    while (true) {
      std::string up;
      keep(client_.take_output(up));
      server_.feed(up);
      const std::string down = server_.output();
      keep(client_.feed(down));
      for (const auto& event : client_.take_events())
        if (const auto* data = std::get_if<kube::wire::http2::Data>(&event))
          client_.consume(data->stream, data->bytes.size());
      if (up.empty() && down.empty()) return;
    }
  }

 private:
  std::string answer_;
  Http2Session client_;
  kube::test::H2Server server_{1000, 1U << 20};
};

}  // namespace

void measure_http2(Runner& runner) {
  constexpr int streams = 64;
  const std::string note = "64 streams side by side; the server's half is in it";
  kube::HttpRequest get;
  get.target = "/api/v1/namespaces/default/pods/web-1";
  get.headers = {{"accept", "application/json"}};
  Pair small("{}");
  runner.measure("HTTP/2: GET, small answer", streams, [&] { small.exchange(get, streams); }, note);

  kube::HttpRequest post = get;
  post.method = "POST";
  post.target = "/api/v1/namespaces/default/pods";
  post.headers.emplace_back("content-type", "application/json");
  post.body = sample_pod(1);
  Pair big(sample_pod(1));
  runner.measure("HTTP/2: POST of a pod, a pod as the answer", streams, [&] { big.exchange(post, streams); }, note);
}

}  // namespace bench
