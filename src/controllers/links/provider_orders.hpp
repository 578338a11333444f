// The orders that wait for a provider to act, of all parts of the process: from them it is judged whether the provider
// is silent.
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
  /// Has what waits tried again, because the provider may have come back. This is done at once, unless it was done less
  /// than five seconds ago: then catch_up() does it after that time. A provider may come and go all the time, so half a
  /// minute after the first return the five seconds begin to double, up to four minutes. Ten minutes without a return
  /// end that.
  void wake(kube::TimePoint now);
  /// Does what wake() has put off, once it is due.
  void catch_up(kube::TimePoint now);

 private:
  friend class OrderBook;
  void see_change();

  std::set<OrderBook*> books_;
  kube::async::Event any_;
  std::optional<kube::TimePoint> woken_at_;
  kube::TimePoint back_since_{};  ///< the first of the returns that have no long quiet between them
  kube::Duration pause_{};        ///< after `woken_at_`
  bool is_put_off_ = false;
};

/// The orders of one part of this process. One thread.
class OrderBook {
 public:
  /// `wake` is called when what waits is to be tried again. Must not suspend. `clock` outlives this.
  OrderBook(std::shared_ptr<ProviderOrders> provider, kube::async::Clock& clock, std::function<void()> wake);
  ~OrderBook();
  OrderBook(const OrderBook&) = delete;
  OrderBook& operator=(const OrderBook&) = delete;

  /// Opens an order now, as core::OpenOrders does.
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
