// A provider in memory: the library's API server, over real time and for many clients at once. It may also be the
// cluster of liqod itself.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "http2_port.hpp"
#include "kube/testing/fake/api_server.hpp"

namespace liqo::bench {

enum class Manner {
  well,
  stuck,     ///< accepts every request and answers none
  lying,     ///< responds to health checks, and lies about everything else
  flooding,  ///< well, but every watch of Pods has endless events, of foreign pods
  crowded,   ///< well, but the first twin whose Pods are listed has very many, with long names
  dense,     ///< well, but every list has the same bytes, and watches that begin with a list are refused
};

/// Runs no pods: its objects are all there is. One thread.
class Provider {
 public:
  /// `kinds` are served besides the built-in ones. `flood` is the number of events per second of all watches of a
  /// flooding one together, `dense` the answer of a dense one, as gzip.
  Provider(asio::any_io_executor executor, std::span<const kube::Resource> kinds, Manner manner, std::size_t flood,
           std::string dense);

  void handle(kube::HttpRequest request, std::shared_ptr<Answer> answer);
  /// Carries out a request at once, whatever the manner, in the name of `actor`.
  kube::testing::FakeAnswer operate(const kube::HttpRequest& request, std::string_view actor);
  /// While it is silent, it keeps requests, and sends nothing to watches. Afterwards it does both. Connections stay.
  void be_silent(bool silent);
  /// Delays the begin of each answer of handle(). Later events of watches are not delayed.
  void delay_answers(kube::Duration delay) { delay_ = delay; }
  /// Every write so far.
  const std::vector<kube::testing::FakeWrite>& writes() const { return server_.writes(); }
  /// Advances the time, for bookmarks and for changes by time, and floods; without end.
  asio::awaitable<void> keep_time();

 private:
  struct OpenWatch {
    std::string ns;  ///< of a watch of Pods
    std::unique_ptr<kube::testing::FakeWatch> watch;
    std::shared_ptr<Answer> answer;
  };
  void answer_now(kube::HttpRequest request, std::shared_ptr<Answer> answer);
  void advance();
  void notify_soon();
  void notify_all();
  void flood();

  asio::any_io_executor executor_;
  Manner manner_;
  std::size_t flood_, lies_ = 0, flooded_ = 0;
  std::string dense_;
  kube::TimePoint began_;
  kube::testing::VirtualClock clock_;
  kube::testing::FakeApiServer server_;
  std::list<OpenWatch> watches_;
  bool is_telling_ = false, is_silent_ = false;
  std::vector<std::pair<kube::HttpRequest, std::shared_ptr<Answer>>> kept_;  ///< requests that came while it was silent
  kube::Duration delay_{};
  std::string crowded_;  ///< the twin with the crowd, "" until there is one
};

}  // namespace liqo::bench
