#include "kube/runtime/informer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "asked_pause.hpp"
#include "kube/async/timeout.hpp"
#include "kube/client/list_all.hpp"
#include "kube/k8s/status.hpp"
#include "kube/telemetry/families.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;

/// After so many objects the loop gets its turn: about 64 × 40 µs.
constexpr int slice = 64;
constexpr std::chrono::seconds watch_time{300};
/// The server ends a watch after watch_time; one that has not ended this long after has a dead peer.
constexpr Duration watch_grace = 15s;
/// A watch that lived so long shows that the server is well: the next failure is a first one.
constexpr Duration healthy_life = 3s;
/// After a silence of this length a broken watch is not just resumed: the server may have come back with a restored
/// database, whose history has passed the version where the watch would go on. That takes longer than this.
constexpr Duration max_silence = 2s;
/// Events that come within this time before a watch ends may have come together with its end, and lain in a buffer
/// while this process stood still. They do not show that the server lived until then.
constexpr Duration one_go = 200ms;
/// A streamed list that shows nothing new for this long will not be completed: a server that does not know streamed
/// lists sends what there is, and then whatever changes, without an end.
constexpr Duration list_patience = 10s;
constexpr int max_broken_lists = 2;
/// The most time for a streamed list if the one before broke: new objects alone may come for ever.
constexpr Duration max_second_list = 60s;
/// For so long lists come in pages after streams broke: servers that were being replaced stream again, and a page costs
/// several times the memory.
constexpr Duration pages_time = 1h;
/// So often a watch is tried at an event that cannot be read. A list shows what there is without that event.
constexpr int max_unreadable = 3;
/// For a server that shows more than there is memory for: to read it again costs as much, and rarely helps.
constexpr BackoffPolicy refusal_backoff{.first = 5s, .max_pause = 5min};
constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

std::unexpected<Failure> over_budget() {
  return fail(Errc::too_large, "the server has more than the store budget allows");
}

}  // namespace

Informer::Informer(const asio::any_io_executor& executor, Api& api, InformerScope scope, Metrics& metrics,
                   StoreBudget* budget, ServerHistory* history, Outage* outage)
    : api_(api),
      scope_(std::move(scope)),
      budget_(budget),
      history_(history),
      outage_(outage),
      synced_(executor),
      log_(Log("informer")
               .with("cluster", api.cluster())
               .with("resource", std::string(scope_.resource.plural))
               .with("namespace", scope_.ns)) {
  const Labels labels{{"cluster", api.cluster()}, {"resource", std::string(scope_.resource.plural)}};
  lists_ = metrics.counter(families::lists, labels);
  watches_ = metrics.counter(families::watches, labels);
  events_ = metrics.counter(families::watch_events, labels);
  skipped_ = metrics.counter(families::skipped_objects, labels);
  rewinds_ = metrics.counter(families::rewinds, labels);
  objects_ = metrics.gauge(families::held_objects, labels);
  bytes_ = metrics.gauge(families::held_bytes, labels);
  shown_at_ = api_.clock().now();
  age_ = metrics.sample(families::watch_age, labels,
                        [this] { return std::chrono::duration<double>(api_.clock().now() - shown_at_).count(); });
  if (auto parsed = Selector::parse(scope_.selection.label_selector, scope_.selection.field_selector))
    selector_ = std::move(*parsed);
  if (scope_.in_pages) pages_until_ = TimePoint::max();
  witness_.resource = &scope_.resource;
  if (history_) history_->add(witness_);
}

Informer::~Informer() {
  if (history_) history_->remove(witness_);
  if (outage_) outage_->end(this);
  account(0, 0);
}

asio::awaitable<void> Informer::run() {
  while (!is_over_budget()) {
    opened_ = TimePoint::max();
    auto read = co_await read_once();
    const TimePoint now = api_.clock().now();
    const bool was_well = opened_ <= now - healthy_life;
    if (was_well) failures_ = 0;
    if (read) {
      // Ended in its time: the server was there until now. Sooner, it may be on its way down.
      if (opened_ <= now - watch_time) {
        alive_ = now;
        // Streams live again.
        if (pages_until_ != TimePoint::max()) pages_until_ = now;
      }
      be_well();
      // The usual end of a watch. One that ends at once is a failure: the server must not be asked in a tight loop.
      if (was_well) continue;
    }
    ++failures_;
    if (!read) report(read.error());
    if (is_over_budget()) co_return;
    const bool is_too_large = !read && read.error().code() == Errc::too_large;
    Duration pause = is_too_large ? pause_of_refusal(now) : backoff_.pause(failures_, api_.random());
    if (!read) pause = std::max(pause, asked_pause(read.error()));
    co_await api_.clock().sleep(pause);
  }
}

Duration Informer::pause_of_refusal(TimePoint now) {
  // A watch that is opened in between is no sign that the server has less to send.
  if (now - refused_ > 2 * refusal_backoff.max_pause) refusals_ = 0;
  const Duration pause = refusal_backoff.pause(++refusals_, api_.random());
  refused_ = now + pause;
  return pause;
}

asio::awaitable<Result<void>> Informer::read_once() {
  if (resource_version_.empty() && reads_pages()) KUBE_CO_TRYV(co_await list_pages());
  co_return co_await watch_once();
}

void Informer::begin_list() {
  ++begun_lists_;
  listed_.emplace();
  newest_before_list_ = newest_;
  list_is_older_ = false;
}

asio::awaitable<Result<void>> Informer::list_pages() {
  begin_list();
  ListOptions options{.selection = scope_.selection, .limit = list_page_size, .metadata_only = scope_.metadata_only};
  std::string version;
  while (true) {
    auto page = co_await api_.list_each(scope_.resource, scope_.ns, options,
                                        [this](wire::ListItem item) { return take_listed(std::move(item)); });
    if (is_over_budget()) co_return over_budget();
    if (!page && page.error().is_expired() && !options.continue_token.empty()) {
      // The server forgets the state before all its pages are read: the whole list is asked for at once.
      options = {.selection = scope_.selection, .metadata_only = scope_.metadata_only};
      version.clear();
      begin_list();
      continue;
    }
    if (!page) co_return std::unexpected(std::move(page.error()));
    if (version.empty()) version = page->resource_version;
    if (page->continue_token.empty()) break;
    options.continue_token = std::move(page->continue_token);
  }
  if (version.empty()) co_return fail(Errc::protocol, "the list has no resourceVersion");
  co_return complete_list(version);
}

bool Informer::take_listed(wire::ListItem item) {
  auto object = Object::from(std::move(item.tree));
  if (!object) {
    skip("skipped an object that cannot be read", {"error", object.error()});
    return true;
  }
  if (item.too_deep)
    skip_deep(*object);
  else
    put(std::move(*object));
  return !is_over_budget();
}

asio::awaitable<Result<void>> Informer::watch_once() {
  if (api_.clock().now() - alive_ > max_silence && !resource_version_.empty()) {
    KUBE_CO_TRYV(co_await look_back());
    if (resource_version_.empty()) co_return co_await read_once();
  }
  const bool initial = resource_version_.empty();
  if (initial) begin_list();
  const auto spread = std::chrono::seconds(api_.random().between(0, 60));
  WatchOptions options{.selection = scope_.selection,
                       .resource_version = resource_version_,
                       .timeout = watch_time + spread,
                       .send_initial_events = initial,
                       .metadata_only = scope_.metadata_only};
  watches_.add();
  auto stream = co_await api_.watch(scope_.resource, scope_.ns, options);
  if (!stream) {
    Failure& failure = stream.error();
    if (failure.is_expired()) resource_version_.clear();
    // Servers without KEP-3157 answer a streamed list with a refusal of the parameter.
    if (initial && (failure.http_code() == 400 || failure.http_code() == 422)) {
      pages_until_ = TimePoint::max();
      co_return co_await read_once();
    }
    co_return std::unexpected(std::move(failure));
  }
  opened_ = shown_at_ = api_.clock().now();
  if (!initial && opened_ - alive_ > max_silence) {
    resource_version_.clear();
    co_return fail(Errc::closed, "the server was silent for too long to go on where the watch broke");
  }
  if (initial) bound_list();
  auto end = co_await async::with_timeout(api_.clock(), consume(*stream), options.timeout + watch_grace);
  Result<void> ended = end ? std::move(*end) : fail(Errc::timeout, "the watch did not end in its time");
  alive_ = api_.clock().now() - heard_ > one_go ? heard_ : heard_before_;
  if (!initial || !listed_) {
    if (!ended) see_end(ended.error());
    co_return ended;
  }
  listed_.reset();
  if (++broken_lists_ >= max_broken_lists) pages_until_ = api_.clock().now() + pages_time;
  if (ended) co_return fail(Errc::protocol, "the streamed list ended before it was complete");
  co_return fail(std::move(ended.error()), "the streamed list");
}

void Informer::see_end(const Failure& failure) {
  if (failure.code() != Errc::parse) return;
  if (std::exchange(unreadable_at_, resource_version_) != resource_version_) unreadable_ = 0;
  if (++unreadable_ < max_unreadable) return;
  unreadable_ = 0;
  resource_version_.clear();
}

asio::awaitable<Result<void>> Informer::look_back() {
  using enum ServerHistory::Verdict;
  ServerHistory::Finding found;
  if (history_ && gone_unseen_.empty()) {
    KUBE_CO_TRY(asked, co_await history_->ask(scope_.resource, alive_, changed_at_));
    found = asked;
  }
  if (found.verdict == gone_back) co_return doubt(found.version, newest_);
  if (found.verdict == same) {
    // After the witness nothing is known to be as it was, but this watch has shown nothing of that either, so it goes
    // on from the witness. A version of another resource is none to watch this one from.
    if (version_number(resource_version_) > found.version)
      resource_version_ = std::to_string(found.is_own ? found.version : changed_at_);
    alive_ = found.at;
  } else {
    resource_version_.clear();
  }
  co_return Result<void>();
}

void Informer::bound_list() {
  list_end_ = broken_lists_ > 0 ? opened_ + max_second_list : TimePoint::max();
  list_due_ = std::min(opened_ + list_patience, list_end_);
  list_has_changes_ = false;
}

void Informer::see_list(wire::WatchEventType type, bool is_new) {
  using enum wire::WatchEventType;
  const bool is_change = type == modified || type == deleted;
  // A server sends what there is before what has changed since, and the list's end soon after that.
  if (list_has_changes_ || (!is_change && !is_new)) return;
  list_has_changes_ = is_change;
  list_due_ = std::min(api_.clock().now() + list_patience, list_end_);
}

asio::awaitable<Result<std::optional<wire::WatchEvent>>> Informer::next_event(WatchStream& stream) {
  auto event = stream.buffered();
  if (!event || event->has_value()) co_return event;
  if (!listed_) co_return co_await stream.next();
  auto next = co_await async::with_deadline(api_.clock(), stream.next(), Deadline{list_due_});
  if (!next) co_return fail(Errc::timeout, "it has not come to its end in time");
  co_return std::move(*next);
}

asio::awaitable<Result<void>> Informer::consume(WatchStream& stream) {
  int taken = 0;
  while (true) {
    KUBE_CO_TRY(event, co_await next_event(stream));
    if (!event.has_value()) co_return Result<void>();
    events_.add();
    const wire::WatchEventType type = event->type;
    const std::size_t listed = listed_ ? listed_->size() : 0;
    KUBE_CO_TRYV(take(std::move(*event)));
    if (listed_) see_list(type, listed_->size() > listed);
    if (is_over_budget()) co_return over_budget();
    hear();
    if (has_synced()) be_well();
    if (++taken % slice == 0) co_await asio::post(asio::use_awaitable);
  }
}

void Informer::hear() {
  const TimePoint now = api_.clock().now();
  if (now - heard_ > one_go) heard_before_ = heard_;
  heard_ = shown_at_ = now;
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
    if (listed_) return object.annotation(initial_events_end) == "true" ? complete_list(version) : Result<void>();
    if (!version.empty()) resource_version_ = version;
    newest_ = std::max(newest_, version_number(version));
    return {};
  }
  if (object.name().empty()) {
    // It may have been the end of an object that is held. A list shows that, and is complete without the name.
    if (event.too_long && !listed_)
      return fail(Errc::parse, "an event is so long that the name of its object was not read");
    skip("skipped an object without a name", {"version", version});
    return {};
  }
  const std::uint64_t number = version_number(version);
  if (!listed_ && event.type != deleted && number != 0 && number <= refreshed_) {
    resource_version_ = version;
    return {};
  }
  if (event.type == deleted) {
    const ObjectKey key = object.key();
    if (listed_) listed_->erase(key);
    gone_unseen_.erase(key);
    drop(key, version_number(version));
  } else if (event.too_long) {
    skip_long(object);
  } else if (event.too_deep) {
    skip_deep(object);
  } else {
    if (!listed_)
      witness_ = {witness_.resource, object.key(), std::string(object.uid()), version_number(version), witness_.since};
    put(std::move(object));
  }
  changed_at_ = std::max(changed_at_, version_number(version));
  // While a list streams in, its versions are in no order: only its end says where to go on.
  if (!listed_ && !version.empty()) resource_version_ = version;
  newest_ = std::max(newest_, version_number(version));
  return {};
}

Result<void> Informer::complete_list(std::string_view resource_version) {
  const std::uint64_t version = version_number(resource_version);
  if (list_is_older_ || (version != 0 && version < newest_before_list_)) return doubt(version, newest_before_list_);
  lists_.add();
  ++taken_lists_;
  refreshed_ = 0;
  broken_lists_ = 0;
  auto gone = store_.retain(*listed_, version);
  listed_.reset();
  resource_version_ = resource_version;
  newest_ = std::max(newest_, version);
  alive_ = heard_ = heard_before_ = api_.clock().now();
  witness_.version = 0;
  witness_.since = alive_;
  changed_at_ = version;
  gone_unseen_.clear();
  be_well();
  const bool first = !synced_.is_set();
  synced_.set();
  // A handler may have observed one that is there again.
  for (auto& [key, text] : gone)
    if (!store_.contains(key)) notify(key, nullptr, std::move(text));
  if (!first) return {};
  const Notifying notifying(*this);
  for (const Reader& reader : readers_)
    if (reader.synced && !reader.gone) contain({}, reader.synced);
  return {};
}

Result<void> Informer::doubt(std::uint64_t version, std::uint64_t known) {
  forget();
  return report_rewind(version, known, false);
}

Result<void> Informer::report_rewind(std::uint64_t version, std::uint64_t known, bool itself) {
  log_.warn("the server has gone back to an earlier state, as a restored database does: everything is read anew",
            {{"version", version}, {"known", known}});
  rewinds_.add();
  if (rewound_) rewound_(itself);
  return fail(Errc::protocol, "the history of the server has gone back");
}

void Informer::forget() {
  store_.forget_versions();
  witness_.version = 0;
  listed_.reset();
  resource_version_.clear();
  newest_ = refreshed_ = 0;
}

void Informer::report(const Failure& failure) {
  trouble_ = failure;
  is_absent_ = is_absent_ || failure.is_not_found();
  // Any other failure is an answer: the server is there again.
  if (outage_ && !Outage::is_one(failure)) outage_->end(this);
  if (failure.is_expired()) return;
  if (failures_ <= 1) return;
  // All informers of a cluster find out at the same time.
  const bool is_known = outage_ && Outage::is_one(failure) && !outage_->begin(this);
  // A line at the second failure and when the words change, not at each try.
  if (reported_ == failure.text()) return;
  reported_ = failure.text();
  if (is_known) {
    log_.debug("cannot read", {{"error", failure}, {"failures", failures_}});
  } else if (failure.is_not_found()) {
    log_.info("the server has no such kind", {{"error", failure}});
  } else {
    log_.warn("cannot read", {{"error", failure}, {"failures", failures_}});
  }
}

void Informer::be_well() {
  if (!trouble_) return;
  const bool was_outage = outage_ && Outage::is_one(*trouble_);
  const bool was_last = outage_ && outage_->end(this);
  trouble_.reset();
  if (reported_.empty()) return;
  if (was_outage && !was_last) {
    log_.debug("reads again");
  } else {
    log_.info("reads again");
  }
  reported_.clear();
}

}  // namespace kube
