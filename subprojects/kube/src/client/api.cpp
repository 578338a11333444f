#include "kube/client/api.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/timeout.hpp"
#include "kube/base/json_arena.hpp"
#include "kube/base/url.hpp"
#include "kube/client/read_failure.hpp"
#include "kube/telemetry/families.hpp"
#include "kube/wire/gzip_decoder.hpp"
#include "unpacked_body.hpp"

namespace kube {
namespace {

/// How many objects or bytes of a list are taken before the loop gets its turn.
constexpr std::size_t slice_objects = 64, slice_bytes = 256u << 10;
/// Bytes in a second: a list that comes slower than this for long is given up.
constexpr std::size_t slowest_list_rate = 16u << 10;

std::string describe(const HttpRequest& request, const std::string& cluster) {
  return std::string(request.verb) + " " + std::string(path_of(request.target)) + " in " + cluster;
}

/// The objects of one page, taken as they arrive.
class PageReader {
 public:
  PageReader(wire::ListDecoder decoder, bool is_packed, const std::function<bool(wire::ListItem)>& take)
      : decoder_(std::move(decoder)), take_(take) {
    if (is_packed) packed_.emplace();
  }

  asio::awaitable<Result<void>> feed(std::string bytes) {
    if (!packed_) co_return co_await parse(bytes);
    // Block by block: a few packed bytes may hold a long list.
    packed_->feed(std::move(bytes));
    while (true) {
      KUBE_CO_TRY(block, packed_->take());
      if (block.empty() || !wants_more_) co_return Result<void>();
      KUBE_CO_TRYV(co_await parse(block));
    }
  }
  /// False once the caller that takes the objects has enough.
  bool wants_more() const { return wants_more_; }
  Result<wire::ListMeta> finish() {
    if (packed_ && !packed_->is_complete()) return fail(Errc::protocol, "the gzip stream of the list is cut short");
    return decoder_.finish();
  }

 private:
  asio::awaitable<Result<void>> parse(std::string_view bytes) {
    KUBE_CO_TRYV(decoder_.feed(bytes));
    bytes_ += bytes.size();
    while (wants_more_) {
      KUBE_CO_TRY(item, decoder_.next());
      if (!item.has_value()) break;
      wants_more_ = take_(std::move(*item));
      if (++objects_ == slice_objects) co_await rest();
    }
    if (bytes_ >= slice_bytes) co_await rest();
    co_return Result<void>();
  }
  asio::awaitable<void> rest() {
    objects_ = bytes_ = 0;
    co_await asio::post(asio::use_awaitable);
  }

  wire::ListDecoder decoder_;
  std::optional<wire::GzipDecoder> packed_;
  const std::function<bool(wire::ListItem)>& take_;
  std::size_t objects_ = 0, bytes_ = 0;
  bool wants_more_ = true;
};

}  // namespace

asio::awaitable<Result<Api::Text>> Api::read_all(net::Body& body, std::shared_ptr<MemoryAccount> account) {
  Text all{.text = {}, .hold = MemoryHold(std::move(account))};
  while (true) {
    KUBE_CO_TRY(piece, co_await body.read());
    if (piece.empty()) co_return all;
    const std::size_t size = all.text.size() + piece.size();
    if (size > max_object_bytes)
      co_return fail(Errc::too_large, "the answer is longer than " + std::to_string(max_object_bytes) + " bytes");
    if (size > all.text.capacity()) {
      const std::size_t room = std::max(size, all.text.capacity() * 2);
      KUBE_CO_TRYV(all.hold.grow(room));
      all.text.reserve(room);
    }
    all.text.append(piece);
  }
}

asio::awaitable<Result<std::optional<wire::WatchEvent>>> WatchStream::next() {
  while (true) {
    auto event = decoder_.next();
    if (!event || event->has_value()) co_return event;
    KUBE_CO_TRY(piece, co_await body_->read());
    if (piece.empty()) co_return std::optional<wire::WatchEvent>();
    KUBE_CO_TRYV(decoder_.feed(piece));
  }
}

Api::Api(net::Transport& transport, async::Clock& clock, Random& random, Metrics& metrics, ApiSettings settings)
    : transport_(transport), clock_(clock), random_(random), metrics_(metrics), settings_(std::move(settings)) {
  if (!settings_.account) settings_.account = MemoryAccount::of_process();
}

void Api::count(const HttpRequest& request, int code) {
  auto [series, is_new] = requests_.try_emplace({request.method, code});
  if (is_new) {
    const std::string code_label = code == 0 ? "<error>" : std::to_string(code);
    series->second = metrics_.counter(families::requests,
                                      {{"host", settings_.cluster}, {"method", request.method}, {"code", code_label}});
  }
  series->second.add();
}

void Api::look_at_clock(const net::ResponseHead& head, WallTime sent) {
  if (!server_clock_.observe(head.header("date"), sent, clock_.wall(), clock_.now())) return;
  clock_ahead_ = metrics_.gauge(families::clock_ahead, {{"host", settings_.cluster}});
  clock_ahead_.set(static_cast<double>(server_clock_.ahead()->count()));
}

asio::awaitable<Result<net::Response>> Api::send(HttpRequest request, Deadline deadline) {
  Duration backoff = std::chrono::seconds(1);
  for (int attempt = 1;; ++attempt) {
    if (settings_.may_write && request.method != "GET") {
      // Asked here for those transports that send at once, and once more by those that connect or repeat first.
      if (!settings_.may_write())
        co_return fail(Errc::stopped, describe(request, settings_.cluster) + ": this process does not lead");
      request.may_send = settings_.may_write;
    }
    const WallTime sent = clock_.wall();
    auto response = co_await transport_.send(request, deadline);
    count(request, response ? response->head.status : 0);
    if (!response) co_return fail(std::move(response.error()), describe(request, settings_.cluster));
    look_at_clock(response->head, sent);
    const int code = response->head.status;
    if (code >= 200 && code < 300) co_return std::move(*response);

    Failure failure = co_await read_failure(*response, clock_, deadline, settings_.account);
    const auto retry_after = failure.status()->retry_after;
    // The server says that it has not carried the request out, so any verb may be sent again.
    const bool put_off = code == 429 || (code == 503 && retry_after);
    const Duration pause = std::max(backoff, Duration(retry_after.value_or(std::chrono::seconds(0))));
    const auto jitter = std::chrono::duration_cast<Duration>(pause * 0.2 * random_.unit());
    if (!put_off || attempt >= settings_.max_attempts || clock_.now() + pause + jitter >= deadline.at)
      co_return fail(std::move(failure), describe(request, settings_.cluster));
    response->body.reset();
    co_await clock_.sleep(pause + jitter);
    backoff *= 2;
  }
}

asio::awaitable<Result<Api::Text>> Api::exchange(HttpRequest request, Deadline deadline) {
  const std::string what = describe(request, settings_.cluster);
  KUBE_CO_TRY(response, co_await send(std::move(request), deadline));
  auto body = co_await async::with_deadline(clock_, read_all(*response.body, settings_.account), deadline);
  if (!body) co_return fail(Errc::timeout, what + ": the answer's body did not arrive in time");
  if (!*body) co_return fail(std::move(body->error()), what);
  co_return std::move(**body);
}

asio::awaitable<Result<Object>> Api::exchange_object(HttpRequest request) {
  const std::string what = describe(request, settings_.cluster);
  KUBE_CO_TRY(body, co_await exchange(std::move(request), clock_.deadline_in(settings_.timeout)));
  KUBE_CO_TRY(object, Object::parse(body.text, settings_.account), what);
  co_return std::move(object);
}

// No verb is a coroutine itself: what its arguments refer to may be gone when the answer is awaited.
asio::awaitable<Result<Object>> Api::get(const Resource& resource, const ObjectKey& key, std::string_view subresource) {
  return exchange_object(request::get(resource, key, subresource));
}

asio::awaitable<Result<wire::ListMeta>> Api::exchange_list(HttpRequest list, std::size_t max_bytes,
                                                           std::function<bool(wire::ListItem)> take) {
  const std::string what = describe(list, settings_.cluster);
  if (settings_.packed_lists) list.headers.emplace_back("accept-encoding", "gzip");
  KUBE_CO_TRY(response, co_await send(std::move(list), clock_.deadline_in(settings_.timeout)));
  PageReader page(wire::ListDecoder(max_bytes, settings_.account), response.head.header("content-encoding") == "gzip",
                  take);
  // A large page over a slow link has as long as it keeps coming: so many bytes earn one more second.
  const Deadline first = clock_.deadline_in(settings_.timeout);
  std::size_t received = 0;
  while (true) {
    const Duration earned =
        std::min<Duration>(std::chrono::seconds(received / slowest_list_rate), TimePoint::max() - first.at);
    const Deadline deadline{first.at + earned};
    auto piece = co_await async::with_deadline(clock_, response.body->read(), deadline);
    if (!piece) co_return fail(Errc::timeout, what + ": the list did not arrive in time");
    if (!*piece) co_return fail(std::move(piece->error()), what);
    if ((*piece)->empty()) break;
    received += (*piece)->size();
    KUBE_CO_TRYV(co_await page.feed(std::move(**piece)), what);
    if (!page.wants_more()) co_return wire::ListMeta();
  }
  KUBE_CO_TRY(meta, page.finish(), what);
  co_return std::move(meta);
}

asio::awaitable<Result<wire::ListMeta>> Api::list_each(const Resource& resource, std::string_view ns,
                                                       const ListOptions& options,
                                                       std::function<bool(wire::ListItem)> take) {
  return exchange_list(request::list(resource, ns, options), max_list_bytes, std::move(take));
}

asio::awaitable<Result<wire::ListPage>> Api::exchange_page(HttpRequest list, std::size_t max_bytes) {
  wire::ListPage page;
  KUBE_CO_TRY(meta, co_await exchange_list(std::move(list), max_bytes, [&page](wire::ListItem item) {
                if (!item.too_deep) page.items.push_back(std::move(item.tree));
                return true;
              }));
  static_cast<wire::ListMeta&>(page) = std::move(meta);
  co_return page;
}

asio::awaitable<Result<wire::ListPage>> Api::list(const Resource& resource, std::string_view ns,
                                                  const ListOptions& options, std::size_t max_bytes) {
  return exchange_page(request::list(resource, ns, options), max_bytes);
}

asio::awaitable<Result<WatchStream>> Api::open_watch(HttpRequest watch) {
  KUBE_CO_TRY(response, co_await send(std::move(watch), clock_.deadline_in(settings_.timeout)));
  if (response.head.header("content-encoding") == "gzip")
    response.body = std::make_unique<UnpackedBody>(std::move(response.body));
  co_return WatchStream(std::move(response.body), settings_.account);
}

asio::awaitable<Result<WatchStream>> Api::watch(const Resource& resource, std::string_view ns,
                                                const WatchOptions& options) {
  HttpRequest watch = request::watch(resource, ns, options);
  if (settings_.packed_lists && options.send_initial_events) watch.headers.emplace_back("accept-encoding", "gzip");
  return open_watch(std::move(watch));
}

asio::awaitable<Result<Object>> Api::create(const Resource& resource, const Object& object,
                                            const WriteOptions& options) {
  return exchange_object(request::create(resource, object, options));
}

asio::awaitable<Result<Object>> Api::replace(const Resource& resource, const Object& object,
                                             const WriteOptions& options) {
  return exchange_object(request::replace(resource, object, options));
}

asio::awaitable<Result<Object>> Api::patch(const Resource& resource, const ObjectKey& key, Patch patch,
                                           const WriteOptions& options) {
  return exchange_object(request::patch(resource, key, std::move(patch), options));
}

asio::awaitable<Result<Object>> Api::apply(const Resource& resource, const Object& object,
                                           std::string_view field_manager, std::string_view subresource) {
  const WriteOptions options{.field_manager = field_manager, .subresource = subresource};
  return exchange_object(request::patch(resource, object.key(), {PatchType::apply, object.text(), true}, options));
}

asio::awaitable<Result<void>> Api::exchange_nothing(HttpRequest request) {
  const std::string what = describe(request, settings_.cluster);
  const Deadline deadline = clock_.deadline_in(settings_.timeout);
  KUBE_CO_TRY(response, co_await send(std::move(request), deadline));
  // The body is dropped as it comes: that of a collection may be longer than any object.
  while (true) {
    auto piece = co_await async::with_deadline(clock_, response.body->read(), deadline);
    if (!piece) co_return fail(Errc::timeout, what + ": the answer's body did not arrive in time");
    if (!*piece) co_return fail(std::move(piece->error()), what);
    if ((*piece)->empty()) co_return Result<void>();
  }
}

asio::awaitable<Result<void>> Api::remove(const Resource& resource, const ObjectKey& key,
                                          const DeleteOptions& options) {
  return exchange_nothing(request::remove(resource, key, options));
}

asio::awaitable<Result<void>> Api::remove_collection(const Resource& resource, std::string_view ns,
                                                     const Selection& selection, const DeleteOptions& options) {
  return exchange_nothing(request::remove_collection(resource, ns, selection, options));
}

asio::awaitable<Result<json::value>> Api::exchange_document(HttpRequest post) {
  const std::string what = describe(post, settings_.cluster);
  KUBE_CO_TRY(answer, co_await exchange(std::move(post), clock_.deadline_in(settings_.timeout)));
  KUBE_CO_TRY(document, parse_json_arena(answer.text, max_object_depth, settings_.account), what);
  co_return std::move(document);
}

asio::awaitable<Result<json::value>> Api::post(const Resource& resource, const ObjectKey& key,
                                               std::string_view subresource, json::object body) {
  return exchange_document(subresource.empty()
                               ? request::create(resource, Object(std::move(body)))
                               : request::create_subresource(resource, key, subresource, json::serialize(body)));
}

asio::awaitable<Result<std::string>> Api::exchange_text(HttpRequest get, Deadline deadline) {
  KUBE_CO_TRY(answer, co_await exchange(std::move(get), deadline));
  co_return std::move(answer.text);
}

asio::awaitable<Result<std::string>> Api::raw(std::string path, Duration timeout) {
  HttpRequest get;
  get.target = std::move(path);
  get.verb = "get";
  get.repeatable = true;
  return exchange_text(std::move(get), clock_.deadline_in(timeout));
}

}  // namespace kube
