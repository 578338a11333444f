#include "kube/runtime/informer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/timeout.hpp"
#include "kube/k8s/status.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;

/// After so many objects the loop gets its turn: about 64 × 40 µs.
constexpr int slice = 64;
constexpr std::int64_t page_size = 500;
constexpr std::chrono::seconds watch_time{300};
/// The server ends a watch after watch_time; one that has not ended this long after has a dead peer.
constexpr Duration watch_grace = 15s;
constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

}  // namespace

Informer::Informer(const asio::any_io_executor& executor, Api& api, InformerScope scope, Metrics& metrics)
    : api_(api),
      scope_(std::move(scope)),
      synced_(executor),
      log_(Log("informer")
               .with("cluster", api.cluster())
               .with("resource", std::string(scope_.resource.plural))
               .with("namespace", scope_.ns)) {
  const Labels labels{{"cluster", api.cluster()}, {"resource", std::string(scope_.resource.plural)}};
  lists_ = metrics.counter("kube_informer_lists_total", "Complete lists taken.", labels);
  watches_ = metrics.counter("kube_informer_watches_total", "Watches opened.", labels);
  events_ = metrics.counter("kube_informer_events_total", "Watch events taken.", labels);
  objects_ = metrics.gauge("kube_informer_objects", "Objects held in stores.", labels);
  bytes_ = metrics.gauge("kube_informer_bytes", "Bytes of JSON held in stores.", labels);
}

asio::awaitable<void> Informer::run() {
  while (true) {
    std::optional<Failure> failure;
    bool had_events = false;
    if (resource_version_.empty() && !streaming_list_) {
      auto listed = co_await list_pages();
      if (!listed) failure = std::move(listed.error());
    }
    if (!failure) {
      WatchEnd end = co_await watch_once();
      failure = std::move(end.failure);
      had_events = end.had_events;
    }
    if (had_events) failures_ = 0;
    if (!failure) {
      trouble_.reset();
      // A server that ends watches at once must not be asked in a tight loop.
      if (!had_events) co_await api_.clock().sleep(backoff_.pause(1, api_.random()));
      continue;
    }
    ++failures_;
    report(*failure);
    co_await api_.clock().sleep(backoff_.pause(failures_, api_.random()));
  }
}

asio::awaitable<Result<void>> Informer::list_pages() {
  listed_.emplace();
  ListOptions options{.selection = scope_.selection, .limit = page_size};
  std::string version;
  while (true) {
    auto page = co_await api_.list(scope_.resource, scope_.ns, options);
    if (!page) co_return std::unexpected(std::move(page.error()));
    if (version.empty()) version = page->resource_version;
    int taken = 0;
    for (json::value& item : page->items) {
      auto object = Object::from(std::move(item));
      if (!object) {
        log_.warn("skipped an object that cannot be read", {{"error", object.error()}});
        continue;
      }
      put(std::move(*object));
      if (++taken % slice == 0) co_await asio::post(asio::use_awaitable);
    }
    if (page->continue_token.empty()) break;
    options.continue_token = std::move(page->continue_token);
  }
  if (version.empty()) co_return fail(Errc::protocol, "the list has no resourceVersion");
  complete_list(version);
  co_return Result<void>();
}

asio::awaitable<Informer::WatchEnd> Informer::watch_once() {
  const bool initial = resource_version_.empty();
  if (initial) listed_.emplace();
  const auto spread = std::chrono::seconds(api_.random().between(0, 60));
  WatchOptions options{.selection = scope_.selection,
                       .resource_version = resource_version_,
                       .timeout = watch_time + spread,
                       .send_initial_events = initial};
  watches_.add();
  auto stream = co_await api_.watch(scope_.resource, scope_.ns, options);
  if (!stream) {
    Failure& failure = stream.error();
    if (failure.is_expired()) resource_version_.clear();
    // Servers without KEP-3157 answer a streamed list with a refusal of the parameter.
    if (initial && (failure.http_code() == 400 || failure.http_code() == 422)) {
      streaming_list_ = false;
      co_return WatchEnd{.failure = std::nullopt, .had_events = true};
    }
    co_return WatchEnd{.failure = std::move(failure)};
  }
  auto end = co_await async::with_timeout(api_.clock(), consume(*stream), options.timeout + watch_grace);
  if (!end) co_return WatchEnd{.failure = Failure(Errc::timeout, "the watch did not end in its time")};
  co_return std::move(*end);
}

asio::awaitable<Informer::WatchEnd> Informer::consume(WatchStream& stream) {
  WatchEnd end;
  int taken = 0;
  while (true) {
    auto event = co_await stream.next();
    if (!event) {
      end.failure = std::move(event.error());
      co_return end;
    }
    if (!event->has_value()) co_return end;
    events_.add();
    end.had_events = true;
    if (auto done = take(std::move(**event)); !done) {
      end.failure = std::move(done.error());
      co_return end;
    }
    if (trouble_ && has_synced()) {
      log_.info("reads again");
      trouble_.reset();
    }
    if (++taken % slice == 0) co_await asio::post(asio::use_awaitable);
  }
}

Result<void> Informer::take(wire::WatchEvent event) {
  using enum wire::WatchEventType;
  if (event.type == error) {
    Failure failure = Failure::from_status(read_status(json::value(std::move(event.object))));
    if (failure.is_expired()) resource_version_.clear();
    return std::unexpected(std::move(failure).in("the watch"));
  }
  Object object(std::move(event.object));
  const std::string version(object.resource_version());
  if (event.type == bookmark) {
    if (listed_ && object.annotation(initial_events_end) == "true") {
      complete_list(version);
    } else if (!listed_ && !version.empty()) {
      resource_version_ = version;
    }
    return {};
  }
  if (object.name().empty()) {
    log_.warn("skipped an object without a name");
    return {};
  }
  if (event.type == deleted) {
    const ObjectKey key = object.key();
    if (listed_) listed_->erase(key);
    if (store_.remove(key, Store::version_number(version))) notify(key);
  } else {
    put(std::move(object));
  }
  // While a list streams in, its versions are in no order: only its end says where to go on.
  if (!listed_ && !version.empty()) resource_version_ = version;
  return {};
}

void Informer::put(Object object) {
  const ObjectKey key = object.key();
  if (listed_) listed_->insert(key);
  object.mutable_metadata().erase("managedFields");
  if (scope_.prune) scope_.prune(object.tree());
  if (store_.put(object)) notify(key);
}

void Informer::complete_list(std::string_view resource_version) {
  lists_.add();
  const auto gone = store_.retain(*listed_, Store::version_number(resource_version));
  listed_.reset();
  resource_version_ = resource_version;
  failures_ = 0;
  if (trouble_) log_.info("reads again");
  trouble_.reset();
  const bool first = !synced_.is_set();
  synced_.set();
  for (const ObjectKey& key : gone) notify(key);
  if (!first) return;
  for (const Reader& reader : readers_)
    if (reader.synced) reader.synced();
}

void Informer::observe(Object object) {
  if (object.name().empty()) return;
  const ObjectKey key = object.key();
  // What the watch has passed and the store does not hold is gone: a deletion has overtaken the answer to our write.
  const std::uint64_t version = Store::version_number(object.resource_version());
  if (!store_.contains(key) && version <= Store::version_number(resource_version_)) return;
  object.mutable_metadata().erase("managedFields");
  if (scope_.prune) scope_.prune(object.tree());
  if (store_.put(object)) notify(key);
}

void Informer::observe_gone(const ObjectKey& key, std::string_view uid) {
  if (store_.uid(key) == uid && store_.remove(key, 0)) notify(key);
}

void Informer::notify(const ObjectKey& key) {
  objects_.set(double(store_.size()));
  bytes_.set(double(store_.bytes()));
  for (const Reader& reader : readers_) reader.changed(key);
}

void Informer::report(const Failure& failure) {
  // A line when the trouble begins or changes its words, not at each try.
  const bool news = !trouble_ || trouble_->text() != failure.text();
  trouble_ = failure;
  if (failure.is_expired()) return;
  if (news && failures_ > 1) log_.warn("cannot read", {{"error", failure}, {"failures", failures_}});
}

}  // namespace kube
