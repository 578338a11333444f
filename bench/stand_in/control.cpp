#include "control.hpp"

#include <chrono>
#include <utility>

#include "kube/base/json.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/url.hpp"
#include "query.hpp"

namespace liqo::bench {

namespace {

using kube::testing::FakeAnswer;
namespace json = kube::json;

/// A bench creates objects by many requests at once, on kept connections.
constexpr std::size_t max_connections = 64;
constexpr std::string_view operator_actor = "bench";

FakeAnswer refused(int status, std::string_view message) {
  FakeAnswer answer;
  answer.status = status;
  answer.body = json::serialize(json::object{{"kind", "Status"}, {"code", status}, {"message", message}});
  return answer;
}

double seconds(kube::TimePoint at) { return std::chrono::duration<double>(at.time_since_epoch()).count(); }

FakeAnswer summary_of(const std::vector<kube::testing::FakeWrite>& writes, std::size_t from) {
  json::object by_kind;
  for (std::size_t i = from; i < writes.size(); ++i) {
    const kube::testing::FakeWrite& write = writes[i];
    std::string what = write.actor + " " + write.method + " " + write.plural;
    if (!write.subresource.empty()) what += "/" + write.subresource;
    what += " " + std::to_string(write.code);
    json::object& of_kind = kube::ensure_object(by_kind, what);
    if (of_kind.empty()) of_kind = {{"count", 0}, {"first", seconds(write.at)}};
    of_kind["count"] = of_kind["count"].as_int64() + 1;
    of_kind["last"] = seconds(write.at);
  }
  FakeAnswer answer;
  answer.body = json::serialize(json::object{{"next", writes.size()}, {"writes", std::move(by_kind)}});
  return answer;
}

}  // namespace

Control::Control(asio::any_io_executor executor, kube::async::Clock& clock, std::string address, std::uint16_t port,
                 std::vector<std::unique_ptr<Provider>>& providers)
    : providers_(providers),
      server_(std::move(executor), clock,
              {.address = std::move(address), .port = port, .max_connections = max_connections},
              [this](const kube::net::ServerRequest& request,
                     kube::net::ServerResponse& response) -> asio::awaitable<void> {
                FakeAnswer made = answer(request);
                made.headers.emplace_back("content-type", "application/json");
                static_cast<void>(co_await response.send(made.status, std::move(made.headers), std::move(made.body)));
              }) {}

FakeAnswer Control::answer(const kube::net::ServerRequest& request) {
  const std::string_view target = request.target;
  if (request.method == "PUT" && (target.starts_with("/silence") || target.starts_with("/delay"))) return order(target);
  const std::size_t slash = target.find('/', 1);
  const auto number = kube::read_number<std::size_t>(target.substr(1, slash - 1));
  if (slash == std::string_view::npos || !number || *number >= providers_.size())
    return refused(404, "there is no such stand-in");
  Provider& provider = *providers_[*number];
  const std::string_view rest = target.substr(slash);
  if (kube::path_of(rest) == "/writes") return summary_of(provider.writes(), number_in(rest, "from").value_or(0));
  kube::HttpRequest inner;
  inner.method = request.method;
  inner.target = rest;
  inner.headers = request.headers;
  inner.body = request.body;
  FakeAnswer made = provider.operate(inner, operator_actor);
  return made.watch ? refused(400, "nothing is watched here") : std::move(made);
}

FakeAnswer Control::order(std::string_view target) {
  const auto silence = number_in(target, "on"), delay = number_in(target, "ms");
  if (!silence && !delay) return refused(400, "on=0, on=1 or ms=N");
  for (const auto& provider : providers_) {
    if (silence) provider->be_silent(*silence != 0);
    if (delay) provider->delay_answers(std::chrono::milliseconds(*delay));
  }
  FakeAnswer done;
  done.body = "{}";
  return done;
}

}  // namespace liqo::bench
