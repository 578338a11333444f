// Bodies of simulated answers.
#pragma once

#include <deque>

#include "kube/testing/link/sim_link.hpp"

namespace kube::testing {

/// After this time without a sign of life a connection is given up.
constexpr Duration keep_alive = std::chrono::seconds(30);

/// A body that is there at once, in pieces, and may break off.
class SimBody final : public net::Body {
 public:
  SimBody(std::deque<std::string> pieces, bool breaks) : pieces_(std::move(pieces)), breaks_(breaks) {}
  asio::awaitable<Result<std::string>> read() override;

 private:
  std::deque<std::string> pieces_;
  bool breaks_;
};

/// The stream of a watch, as it comes over a link.
class SimWatchBody final : public net::Body {
 public:
  SimWatchBody(SimLink& link, std::unique_ptr<FakeWatch> watch, TimePoint breaks_at);
  ~SimWatchBody() override;
  asio::awaitable<Result<std::string>> read() override;

  void cut();
  void link_changed() { changed_.set(); }

 private:
  void pump();

  struct Line {
    TimePoint at;
    std::string text;
  };
  SimLink& link_;
  std::unique_ptr<FakeWatch> watch_;
  async::Event changed_;
  std::deque<Line> lines_;
  std::string rest_;
  TimePoint breaks_at_;
  bool cut_ = false;
};

}  // namespace kube::testing
