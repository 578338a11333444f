// Gathers the usage of one consumer's pods from the kubelets that run them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/usage/node_metric_lines.hpp"
#include "kube/async/slots.hpp"
#include "kube/async/task_group.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "usage/kubelet_clients.hpp"

namespace liqo::usage {

/// Bounds of what kubelets may send, and of what they may cost.
struct ScrapeSettings {
  /// The time for all kubelets together; an answer that is not complete by then is left out. Scrapers of a virtual node
  /// wait for ten seconds.
  kube::Duration timeout = std::chrono::seconds(5);
  /// How long an answer is reused for the same request.
  kube::Duration fresh_for = std::chrono::seconds(1);
  std::size_t max_scrapes = 256;            ///< answers that are gathered or reused at the same time
  std::size_t max_asked_for_one = 32;       ///< kubelets asked at the same time for one consumer
  std::size_t max_asked = 128;              ///< for all
  std::size_t max_read = 64U << 20;         ///< bytes of one kubelet's answer
  std::size_t max_kept_of_node = 8U << 20;  ///< bytes of the consumer's lines in it
  std::size_t max_kept_of_answer = 16U << 20;
  /// Bytes of all answers for one consumer until their last reader has taken them: a consumer that reads slowly delays
  /// only its own requests.
  std::size_t max_kept_of_consumer = 32U << 20;
  std::size_t max_kept = 64U << 20;  ///< of all consumers
};

/// Gathers one answer at a time for each consumer and path. A request for the same meanwhile, or a moment later, gets
/// the same answer, so callers cannot make it ask kubelets without end. A kubelet that is silent, fails or sends too
/// much is left out with its pods. If all do, there is no answer. One thread.
class Scraper {
 public:
  using NodesOf = std::function<std::vector<core::NodeView>(std::string_view consumer)>;
  using Ask = std::function<asio::awaitable<kube::Result<KubeletResponse>>(std::string address, std::uint16_t port,
                                                                           std::string path, kube::Deadline deadline)>;
  using Text = std::shared_ptr<const std::string>;

  Scraper(const kube::Environment& environment, NodesOf nodes_of, Ask ask, ScrapeSettings settings = {});

  /// Gathers, while run() runs. The text counts for the consumer as long as it is referenced. Failures: Errc::too_large
  /// (too many requests at once, or too much text still referenced), Errc::connect (no kubelet has answered; the
  /// message is that of one failure), Errc::stopped (run() ends).
  asio::awaitable<kube::Result<Text>> scrape(std::string consumer, std::string path);
  /// Owns the gathering tasks; ends only by cancellation.
  asio::awaitable<void> run();

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry;
  struct Reading;
  class Holdings;
  struct ServedText;

  /// Gathers the answer of an entry and keeps it while it is fresh. The entry is removed in the end, even after a
  /// failure or a cancellation.
  asio::awaitable<void> gather(Key key, std::shared_ptr<Entry> entry);
  asio::awaitable<void> answer(Key key, std::shared_ptr<Entry> entry);
  asio::awaitable<void> forget(Key key, std::shared_ptr<Entry> entry);
  asio::awaitable<kube::Result<Text>> read(Key key);
  /// The slots of a consumer, which all of its readings share.
  std::shared_ptr<kube::async::Slots> places_of(const std::string& consumer);
  /// Reads one node after the other until there are no more.
  asio::awaitable<void> work(Reading& reading);
  /// Reads a node once there is a slot for it.
  asio::awaitable<kube::Result<void>> ask_node(Reading& reading, core::NodeMetricLines& usage);
  asio::awaitable<kube::Result<void>> read_node(Reading& reading, core::NodeMetricLines& usage);
  /// Notes the result for one node.
  void note(Reading& reading, core::NodeMetricLines& usage, const kube::Result<void>& ended);

  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  NodesOf nodes_of_;
  Ask ask_;
  ScrapeSettings settings_;
  kube::Log log_;
  kube::Repeats failures_;
  kube::Counter served_, failed_, answered_, silent_, refused_, too_large_, lines_dropped_;
  std::shared_ptr<Holdings> holdings_;  ///< outlives this object while texts are being read
  kube::async::Slots places_;           ///< for requests to kubelets
  std::map<std::string, std::weak_ptr<kube::async::Slots>> places_of_;  ///< those of each consumer
  std::map<Key, std::shared_ptr<Entry>> entries_;
  kube::async::TaskGroup group_;
};

}  // namespace liqo::usage
