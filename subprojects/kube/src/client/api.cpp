#include "kube/client/api.hpp"

#include "kube/async/timeout.hpp"
#include "kube/k8s/status.hpp"

namespace kube {
namespace {

/// An answer to a single-object verb is at most this long; a bigger one is not from an API server.
constexpr std::size_t max_object_bytes = 16u << 20;
/// As much of an error's body as anybody reads.
constexpr std::size_t max_error_bytes = 64u << 10;

std::string describe(const HttpRequest& request, const std::string& cluster) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  return std::string(request.verb) + " " + path + " in " + cluster;
}

asio::awaitable<Result<std::string>> read_all(net::Body& body, std::size_t limit) {
  std::string all;
  while (true) {
    auto piece = co_await body.read();
    if (!piece) co_return std::unexpected(std::move(piece.error()));
    if (piece->empty()) co_return all;
    if (all.size() + piece->size() > limit)
      co_return fail(Errc::too_large, "the answer is longer than " + std::to_string(limit) + " bytes");
    all.append(*piece);
  }
}

}  // namespace

asio::awaitable<Result<std::optional<wire::WatchEvent>>> WatchStream::next() {
  while (true) {
    auto event = decoder_.next();
    if (!event || event->has_value()) co_return event;
    auto piece = co_await body_->read();
    if (!piece) co_return std::unexpected(std::move(piece.error()));
    if (piece->empty()) co_return std::optional<wire::WatchEvent>();
    decoder_.feed(*piece);
  }
}

Api::Api(net::Transport& transport, async::Clock& clock, Random& random, Metrics& metrics, ApiSettings settings)
    : transport_(transport), clock_(clock), random_(random), metrics_(metrics), settings_(std::move(settings)) {}

void Api::count(const HttpRequest& request, int code) {
  auto [series, is_new] = requests_.try_emplace({request.method, code});
  if (is_new) {
    const std::string code_label = code == 0 ? "<error>" : std::to_string(code);
    series->second = metrics_.counter("rest_client_requests_total", "Requests to API servers, by answer.",
                                      {{"host", settings_.cluster}, {"method", request.method}, {"code", code_label}});
  }
  series->second.add();
}

asio::awaitable<Result<net::Response>> Api::send(HttpRequest request, Deadline deadline) {
  Duration pause = std::chrono::seconds(1);
  for (int attempt = 1;; ++attempt) {
    if (settings_.may_write && request.method != "GET" && !settings_.may_write())
      co_return fail(Errc::stopped, describe(request, settings_.cluster) + ": this process does not lead");
    auto response = co_await transport_.send(request, deadline);
    count(request, response ? response->head.status : 0);
    if (!response) co_return fail(std::move(response.error()), describe(request, settings_.cluster));
    const int code = response->head.status;
    if (code >= 200 && code < 300) co_return std::move(*response);

    const std::string_view retry_after = response->head.header("retry-after");
    auto body = co_await async::with_deadline(clock_, read_all(*response->body, max_error_bytes), deadline);
    const std::string text = body && *body ? std::move(**body) : std::string();
    Status status = read_status(code, text, retry_after);
    // The server says that it has not carried the request out, so any verb may be sent again.
    const bool put_off = code == 429 || (code == 503 && status.retry_after);
    if (status.retry_after) pause = *status.retry_after;
    const auto jitter = std::chrono::duration_cast<Duration>(pause * 0.2 * random_.unit());
    if (!put_off || attempt >= settings_.attempts || clock_.now() + pause + jitter >= deadline.at)
      co_return fail(Failure::from_status(std::move(status)), describe(request, settings_.cluster));
    response->body.reset();
    co_await clock_.sleep(pause + jitter);
    pause *= 2;
  }
}

asio::awaitable<Result<std::string>> Api::exchange(HttpRequest request, Deadline deadline) {
  const std::string what = describe(request, settings_.cluster);
  auto response = co_await send(std::move(request), deadline);
  if (!response) co_return std::unexpected(std::move(response.error()));
  auto body = co_await async::with_deadline(clock_, read_all(*response->body, max_object_bytes), deadline);
  if (!body) co_return fail(Errc::timeout, what + ": the answer's body did not arrive in time");
  if (!*body) co_return fail(std::move(body->error()), what);
  co_return std::move(**body);
}

asio::awaitable<Result<Object>> Api::exchange_object(HttpRequest request) {
  const std::string what = describe(request, settings_.cluster);
  auto body = co_await exchange(std::move(request), clock_.deadline_in(settings_.timeout));
  if (!body) co_return std::unexpected(std::move(body.error()));
  auto object = Object::parse(*body);
  if (!object) co_return fail(std::move(object.error()), what);
  co_return std::move(*object);
}

asio::awaitable<Result<Object>> Api::get(const Resource& resource, ObjectKey key, std::string_view subresource) {
  HttpRequest get = request::get(resource, key, subresource);
  co_return co_await exchange_object(std::move(get));
}

asio::awaitable<Result<wire::ListPage>> Api::list(const Resource& resource, std::string_view ns, ListOptions options) {
  HttpRequest list = request::list(resource, ns, options);
  const std::string what = describe(list, settings_.cluster);
  const Deadline deadline = clock_.deadline_in(settings_.timeout);
  auto response = co_await send(std::move(list), deadline);
  if (!response) co_return std::unexpected(std::move(response.error()));
  wire::ListDecoder decoder;
  while (true) {
    auto piece = co_await async::with_deadline(clock_, response->body->read(), deadline);
    if (!piece) co_return fail(Errc::timeout, what + ": the list did not arrive in time");
    if (!*piece) co_return fail(std::move(piece->error()), what);
    if ((*piece)->empty()) break;
    auto parsed = decoder.feed(**piece);
    if (!parsed) co_return fail(std::move(parsed.error()), what);
  }
  auto page = decoder.finish();
  if (!page) co_return fail(std::move(page.error()), what);
  co_return std::move(*page);
}

asio::awaitable<Result<WatchStream>> Api::watch(const Resource& resource, std::string_view ns, WatchOptions options) {
  HttpRequest watch = request::watch(resource, ns, options);
  auto response = co_await send(std::move(watch), clock_.deadline_in(settings_.timeout));
  if (!response) co_return std::unexpected(std::move(response.error()));
  co_return WatchStream(std::move(response->body));
}

asio::awaitable<Result<Object>> Api::create(const Resource& resource, const Object& object, WriteOptions options) {
  HttpRequest create = request::create(resource, object, options);
  co_return co_await exchange_object(std::move(create));
}

asio::awaitable<Result<Object>> Api::replace(const Resource& resource, const Object& object, WriteOptions options) {
  HttpRequest replace = request::replace(resource, object, options);
  co_return co_await exchange_object(std::move(replace));
}

asio::awaitable<Result<Object>> Api::patch(const Resource& resource, ObjectKey key, PatchType type, std::string body,
                                           WriteOptions options, bool force) {
  HttpRequest patch = request::patch(resource, key, type, std::move(body), options, force);
  co_return co_await exchange_object(std::move(patch));
}

asio::awaitable<Result<Object>> Api::apply(const Resource& resource, const Object& object,
                                           std::string_view field_manager, std::string_view subresource) {
  const WriteOptions options{.field_manager = field_manager, .subresource = subresource};
  HttpRequest apply = request::patch(resource, object.key(), PatchType::apply, object.text(), options, true);
  co_return co_await exchange_object(std::move(apply));
}

asio::awaitable<Result<void>> Api::remove(const Resource& resource, ObjectKey key, DeleteOptions options) {
  HttpRequest remove = request::remove(resource, key, options);
  auto body = co_await exchange(std::move(remove), clock_.deadline_in(settings_.timeout));
  if (!body) co_return std::unexpected(std::move(body.error()));
  co_return Result<void>();
}

asio::awaitable<Result<void>> Api::remove_collection(const Resource& resource, std::string_view ns, Selection selection,
                                                     DeleteOptions options) {
  HttpRequest remove = request::remove_collection(resource, ns, selection, options);
  auto body = co_await exchange(std::move(remove), clock_.deadline_in(settings_.timeout));
  if (!body) co_return std::unexpected(std::move(body.error()));
  co_return Result<void>();
}

asio::awaitable<Result<json::value>> Api::post(const Resource& resource, ObjectKey key, std::string_view subresource,
                                               json::object body) {
  HttpRequest post = subresource.empty()
                         ? request::create(resource, Object(std::move(body)))
                         : request::create_subresource(resource, key, subresource, json::serialize(body));
  const std::string what = describe(post, settings_.cluster);
  auto answer = co_await exchange(std::move(post), clock_.deadline_in(settings_.timeout));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  auto document = parse_json(*answer);
  if (!document) co_return fail(std::move(document.error()), what);
  co_return std::move(*document);
}

asio::awaitable<Result<std::string>> Api::raw(std::string path, Duration timeout) {
  HttpRequest get;
  get.target = std::move(path);
  get.verb = "get";
  get.repeatable = true;
  co_return co_await exchange(std::move(get), clock_.deadline_in(timeout));
}

}  // namespace kube
