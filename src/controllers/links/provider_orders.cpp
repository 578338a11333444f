#include "controllers/links/provider_orders.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The pause between two retries of everything that waits, because the provider seems to be back. At first, after a
/// return, retries follow each other at this pause, because webhooks begin to answer only after the Lease is taken. A
/// provider that seems to return again and again doubles the pause, until it has been quiet for long.
constexpr kube::Duration wake_pause = 5s, back_time = 30s, max_wake_pause = 4min, quiet_time = 10min;

}  // namespace

core::OrdersSight ProviderOrders::sight() const {
  std::vector<const core::OpenOrders*> parts;
  parts.reserve(books_.size());
  for (const OrderBook* book : books_) parts.push_back(&book->orders_);
  return core::sight_of(parts);
}

void ProviderOrders::wake(kube::TimePoint now) {
  is_put_off_ = true;
  catch_up(now);
}

void ProviderOrders::catch_up(kube::TimePoint now) {
  if (!is_put_off_ || (woken_at_ && now - *woken_at_ < pause_)) return;
  is_put_off_ = false;
  if (!any_.is_set()) return;
  if (!woken_at_ || now - *woken_at_ >= quiet_time) {
    back_since_ = now;
    pause_ = wake_pause;
  } else if (now - back_since_ > back_time) {
    pause_ = std::min(2 * pause_, max_wake_pause);
  }
  woken_at_ = now;
  for (const OrderBook* book : books_)
    if (!book->orders_.is_empty()) book->wake_();
}

void ProviderOrders::see_change() {
  if (std::ranges::all_of(books_, [](const OrderBook* book) { return book->orders_.is_empty(); }))
    any_.reset();
  else
    any_.set();
}

OrderBook::OrderBook(std::shared_ptr<ProviderOrders> provider, kube::async::Clock& clock, std::function<void()> wake)
    : provider_(std::move(provider)), clock_(clock), wake_(std::move(wake)) {
  provider_->books_.insert(this);
}

OrderBook::~OrderBook() {
  provider_->books_.erase(this);
  provider_->see_change();
}

void OrderBook::open(std::string_view order) {
  const bool is_first = orders_.is_empty();
  orders_.open(order, {.at = clock_.now(), .wall = clock_.wall()});
  if (is_first) provider_->see_change();
}

void OrderBook::close(std::string_view order, core::OpenOrders::End how) {
  if (orders_.is_empty()) return;
  orders_.close(order, how, clock_.now());
  if (orders_.is_empty()) provider_->see_change();
}

void OrderBook::clear() {
  orders_.clear();
  provider_->see_change();
}

}  // namespace liqo::controllers
