// A provider that is in memory: the library's API server, over real time and for many clients at once. It may also be
// the cluster of liqod itself.
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
  stuck,     ///< takes every request and answers none
  lying,     ///< answers that it is alive, and lies about everything else
  flooding,  ///< as well, but every watch of Pods has events without end, of pods that nobody asked for
  crowded,   ///< as well, but in the first twin whose Pods are listed are very many, with long names
  dense,     ///< as well, but it answers every list with the same bytes, and refuses watches that begin with a list
};

/// Runs no pods: nothing stands behind its objects. One thread.
class Provider {
 public:
  /// `kinds` are served beside the built-in ones. `flood` is how many events a second all watches of a flooding one
  /// have together, `dense` what a dense one answers, as gzip.
  Provider(asio::any_io_executor executor, std::span<const kube::Resource> kinds, Manner manner, std::size_t flood,
           std::string dense);

  void handle(kube::HttpRequest request, std::shared_ptr<Answer> answer);
  /// Carries out a request at once and whatever its manner is, in the name of `actor`.
  kube::testing::FakeAnswer operate(const kube::HttpRequest& request, std::string_view actor);
  /// While it is silent, it keeps what comes, and tells its watches nothing; then all follows. Connections stay.
  void be_silent(bool silent);
  /// Each answer of handle() begins so much later; what watches tell afterwards does not.
  void delay_answers(kube::Duration delay) { delay_ = delay; }
  /// Every write so far.
  const std::vector<kube::testing::FakeWrite>& writes() const { return server_.writes(); }
  /// Moves time on, for bookmarks and for what ends with time, and floods; for ever.
  asio::awaitable<void> keep_time();

 private:
  struct OpenWatch {
    std::string ns;  ///< of a watch of Pods
    std::unique_ptr<kube::testing::FakeWatch> watch;
    std::shared_ptr<Answer> answer;
  };
  void answer_now(kube::HttpRequest request, std::shared_ptr<Answer> answer);
  void advance();
  void tell_soon();
  void tell_all();
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
  std::vector<std::pair<kube::HttpRequest, std::shared_ptr<Answer>>> kept_;  ///< that came while it was silent
  kube::Duration delay_{};
  std::string crowded_;  ///< the twin with the crowd, "" until there is one
};

}  // namespace liqo::bench
