// What home has asked of a provider, whoever has asked: for whoever finds out why nothing comes of it.
// Tested by test/unit/controllers/peering/silence_watch_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "core/peering/silence.hpp"
#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"

namespace liqo::controllers {

class OrderBook;

/// The order books of one provider. One thread.
class ProviderOrders {
 public:
  explicit ProviderOrders(const boost::asio::any_io_executor& executor) : any_(executor) {}

  core::OrdersSight sight() const;
  /// Set while an order waits.
  kube::async::Event& any() { return any_; }
  /// Has what waits tried again, because the provider may have come back: at once, or, where that was done less than
  /// five seconds ago, when catch_up() is called after that time. A provider may come and go all the time: half a
  /// minute after the first of such times the five seconds begin to double, up to four minutes, until ten minutes
  /// without.
  void wake(kube::TimePoint now);
  /// Does what wake() has put off, once it is due.
  void catch_up(kube::TimePoint now);

 private:
  friend class OrderBook;
  void see_change();

  std::set<OrderBook*> books_;
  kube::async::Event any_;
  std::optional<kube::TimePoint> woken_at_;
  kube::TimePoint back_since_{};  ///< when the first of the times followed that have no long quiet between them
  kube::Duration pause_{};        ///< after `woken_at_`
  bool is_put_off_ = false;
};

/// What one part of home waits for. One thread.
class OrderBook {
 public:
  /// `wake` is called when what waits is to be tried again. Must not suspend. `clock` outlives this.
  OrderBook(std::shared_ptr<ProviderOrders> provider, kube::async::Clock& clock, std::function<void()> wake);
  ~OrderBook();
  OrderBook(const OrderBook&) = delete;
  OrderBook& operator=(const OrderBook&) = delete;

  /// As in core::OpenOrders, now.
  void open(std::string_view order);
  void close(std::string_view order, core::OpenOrders::End how);
  void clear();
  const core::Moment* since(std::string_view order) const { return orders_.since(order); }

 private:
  friend class ProviderOrders;

  std::shared_ptr<ProviderOrders> provider_;
  kube::async::Clock& clock_;
  std::function<void()> wake_;
  core::OpenOrders orders_;
};

}  // namespace liqo::controllers
