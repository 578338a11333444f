#include "usage/scraper.hpp"

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <optional>

#include "kube/async/event.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/wire/metrics_text.hpp"
#include "telemetry/families.hpp"

namespace liqo::usage {
namespace {

using namespace std::chrono_literals;

/// The path for which the sums of the pods replace the node's own metrics.
constexpr std::string_view resource_path = "/metrics/resource";

asio::awaitable<void> until_cancelled(kube::async::Clock& clock) {
  while (true) co_await clock.sleep(1h);
}

}  // namespace

/// The bytes that are held for each consumer.
class Scraper::Holdings {
 public:
  explicit Holdings(kube::Gauge shown) : shown_(std::move(shown)) {}
  void hold(const std::string& consumer, std::size_t bytes) {
    if (bytes == 0) return;
    of_[consumer] += bytes;
    all_ += bytes;
    shown_.set(static_cast<double>(all_));
  }
  void let_go(const std::string& consumer, std::size_t bytes) {
    if (bytes == 0) return;
    std::size_t& own = of_[consumer];
    own -= bytes;
    if (own == 0) of_.erase(consumer);
    all_ -= bytes;
    shown_.set(static_cast<double>(all_));
  }
  std::size_t of(const std::string& consumer) const {
    const auto found = of_.find(consumer);
    return found == of_.end() ? 0 : found->second;
  }
  std::size_t all() const { return all_; }

 private:
  std::map<std::string, std::size_t> of_;
  std::size_t all_ = 0;
  kube::Gauge shown_;
};

/// A text that counts for its consumer until the last response with it was sent.
struct Scraper::ServedText {
  ServedText(std::string made, std::shared_ptr<Holdings> in, std::string of)
      : text(std::move(made)), holdings(std::move(in)), consumer(std::move(of)) {
    holdings->hold(consumer, text.size());
  }
  ServedText(const ServedText&) = delete;
  ServedText& operator=(const ServedText&) = delete;
  ~ServedText() { holdings->let_go(consumer, text.size()); }
  const std::string text;
  const std::shared_ptr<Holdings> holdings;
  const std::string consumer;
};

/// The answer to one request, which all callers with the same request share.
struct Scraper::Entry {
  explicit Entry(const asio::any_io_executor& executor) : done(executor) {}
  kube::async::Event done;
  kube::Result<Text> answer = kube::fail(kube::Errc::stopped, "this process is stopping");
};

/// One round of requests to the kubelets of a consumer's nodes. The text that it has read counts for the consumer.
struct Scraper::Reading {
  Reading(Key of, kube::Deadline until, std::shared_ptr<Holdings> in)
      : consumer(std::move(of.first)), path(std::move(of.second)), deadline(until), holdings(std::move(in)) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { holdings->let_go(consumer, kept); }
  const std::string consumer, path;
  const kube::Deadline deadline;
  const std::shared_ptr<Holdings> holdings;
  std::shared_ptr<kube::async::Slots> places;  ///< the slots of the consumer
  std::vector<core::NodeMetricLines> usage;
  std::size_t next = 0;  ///< the first node that no worker has taken
  std::size_t kept = 0;  ///< bytes of all nodes
  std::size_t answered = 0;
  std::optional<kube::Failure> failure;  ///< the first of a kubelet
};

Scraper::Scraper(const kube::Environment& environment, NodesOf nodes_of, Ask ask, ScrapeSettings settings)
    : executor_(environment.executor),
      clock_(environment.clock),
      nodes_of_(std::move(nodes_of)),
      ask_(std::move(ask)),
      settings_(settings),
      log_("metric-agent"),
      lines_dropped_(environment.metrics.counter(families::usage_lines_dropped)),
      holdings_(std::make_shared<Holdings>(environment.metrics.gauge(families::usage_held))),
      places_(executor_, settings_.max_asked),
      group_(executor_, kube::async::TaskGroup::OnFailure::keep_others) {
  const auto scrapes = [&environment](const char* outcome) {
    return environment.metrics.counter(families::usage_scrapes, {{"outcome", outcome}});
  };
  const auto kubelets = [&environment](const char* outcome) {
    return environment.metrics.counter(families::usage_kubelets, {{"outcome", outcome}});
  };
  served_ = scrapes("told");
  failed_ = scrapes("failed");
  answered_ = kubelets("answered");
  silent_ = kubelets("silent");
  refused_ = kubelets("failed");
  too_large_ = kubelets("too_large");
}

asio::awaitable<void> Scraper::run() { co_await kube::async::finally(until_cancelled(clock_), group_.stop()); }

asio::awaitable<kube::Result<Scraper::Text>> Scraper::scrape(std::string consumer, std::string path) {
  Key key{std::move(consumer), std::move(path)};
  std::shared_ptr<Entry> entry;
  if (const auto found = entries_.find(key); found != entries_.end()) {
    entry = found->second;
  } else {
    if (entries_.size() >= settings_.max_scrapes)
      co_return kube::fail(kube::Errc::too_large, "too many metrics are asked for at once; try again");
    if (holdings_->of(key.first) >= settings_.max_kept_of_consumer)
      co_return kube::fail(kube::Errc::too_large, "metrics of cluster " + key.first +
                                                      " that were asked for before are still being read; try again");
    entry = std::make_shared<Entry>(executor_);
    entries_.emplace(key, entry);
    group_.spawn(gather(std::move(key), entry));
  }
  co_await entry->done.wait();
  co_return entry->answer;
}

asio::awaitable<void> Scraper::gather(Key key, std::shared_ptr<Entry> entry) {
  co_await kube::async::finally(answer(key, entry), forget(key, entry));
}

asio::awaitable<void> Scraper::answer(Key key, std::shared_ptr<Entry> entry) {
  entry->answer = co_await read(std::move(key));
  (entry->answer ? served_ : failed_).add();
  entry->done.set();
  // Callers that come during this time get the same answer at once. A stop cuts the time short.
  co_await clock_.sleep(settings_.fresh_for);
}

asio::awaitable<void> Scraper::forget(Key key, std::shared_ptr<Entry> entry) {
  if (!entry->done.is_set()) failed_.add();
  entry->done.set();
  entries_.erase(key);
  co_return;
}

asio::awaitable<kube::Result<Scraper::Text>> Scraper::read(Key key) {
  Reading reading(std::move(key), clock_.deadline_in(settings_.timeout), holdings_);
  reading.places = places_of(reading.consumer);
  std::vector<core::NodeView> nodes = nodes_of_(reading.consumer);
  reading.usage.reserve(nodes.size());
  for (core::NodeView& node : nodes) reading.usage.emplace_back(std::move(node), settings_.max_kept_of_node);
  // join() would throw a cancellation that arrives in this same turn, and the group would be destroyed with work in it.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none)
    co_return kube::fail(kube::Errc::stopped, "this process is stopping");
  kube::async::TaskGroup group(executor_);
  for (std::size_t i = 0; i < std::min(reading.usage.size(), settings_.max_asked_for_one); ++i)
    group.spawn(work(reading));
  co_await group.join();
  if (reading.answered == 0 && !reading.usage.empty())
    co_return kube::fail(kube::Errc::connect, "no kubelet that runs pods of cluster " + reading.consumer +
                                                  " sends its metrics; one says: " + reading.failure->text());
  const auto told = std::make_shared<const ServedText>(
      core::join_metric_lines(reading.usage, reading.path == resource_path), holdings_, reading.consumer);
  co_return Text(told, &told->text);
}

std::shared_ptr<kube::async::Slots> Scraper::places_of(const std::string& consumer) {
  std::erase_if(places_of_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<kube::async::Slots>& known = places_of_[consumer];
  std::shared_ptr<kube::async::Slots> places = known.lock();
  if (!places) known = places = std::make_shared<kube::async::Slots>(executor_, settings_.max_asked_for_one);
  return places;
}

asio::awaitable<void> Scraper::work(Reading& reading) {
  while (reading.next < reading.usage.size()) {
    core::NodeMetricLines& usage = reading.usage[reading.next++];
    const auto ended = co_await kube::async::with_deadline(clock_, ask_node(reading, usage), reading.deadline);
    note(reading, usage, ended ? *ended : kube::fail(kube::Errc::timeout, "it has not answered in time"));
  }
}

asio::awaitable<kube::Result<void>> Scraper::ask_node(Reading& reading, core::NodeMetricLines& usage) {
  // A consumer that reads many nodes by several paths leaves slots for others.
  const kube::async::Slots::Slot own = co_await reading.places->take();
  const kube::async::Slots::Slot place = co_await places_.take();
  co_return co_await read_node(reading, usage);
}

asio::awaitable<kube::Result<void>> Scraper::read_node(Reading& reading, core::NodeMetricLines& usage) {
  const core::NodeView& node = usage.view();
  KUBE_CO_TRY(answer, co_await ask_(node.address, node.port, reading.path, reading.deadline));
  // 404: this kubelet does not have these metrics.
  const int status = answer.response.head.status;
  if (status == 404) co_return kube::Result<void>();
  if (status != 200) co_return kube::fail(kube::Errc::api, "it answers " + std::to_string(status));
  kube::wire::MetricLines lines;
  for (std::size_t bytes = 0;;) {
    KUBE_CO_TRY(chunk, co_await answer.response.body->read());
    if (chunk.empty()) break;
    bytes += chunk.size();
    const std::size_t before = usage.bytes();
    for (const std::string& line : lines.feed(chunk)) usage.take(line);
    const std::size_t more = usage.bytes() - before;
    reading.kept += more;
    holdings_->hold(reading.consumer, more);
    if (bytes > settings_.max_read || usage.is_full() || reading.kept > settings_.max_kept_of_answer ||
        holdings_->of(reading.consumer) > settings_.max_kept_of_consumer || holdings_->all() > settings_.max_kept)
      co_return kube::fail(kube::Errc::too_large, "its metrics are more than are held at once");
  }
  if (lines.dropped() > 0) lines_dropped_.add(static_cast<double>(lines.dropped()));
  co_return kube::Result<void>();
}

void Scraper::note(Reading& reading, core::NodeMetricLines& usage, const kube::Result<void>& ended) {
  if (ended) {
    ++reading.answered;
    answered_.add();
    return;
  }
  const kube::Failure& failure = ended.error();
  (failure.code() == kube::Errc::timeout     ? silent_
   : failure.code() == kube::Errc::too_large ? too_large_
                                             : refused_)
      .add();
  const std::string text = kube::printable(failure.text());
  if (const auto held_back = failures_.note(usage.view().name + " " + text, clock_.now()))
    log_.warn("a kubelet sends no usage: its pods are left out",
              {{"node", usage.view().name}, {"error", text}, {"others_since", *held_back}});
  if (!reading.failure) reading.failure = kube::Failure(failure.code(), text).in("node " + usage.view().name);
  // Metrics that were read only in part would be wrong for some pods, so all of the node's are dropped.
  reading.kept -= usage.bytes();
  holdings_->let_go(reading.consumer, usage.bytes());
  usage = core::NodeMetricLines({}, 0);
}

}  // namespace liqo::usage
