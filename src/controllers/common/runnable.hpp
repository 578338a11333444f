// The interface by which Process runs a controller.
#pragma once

#include <boost/asio/awaitable.hpp>

namespace liqo::controllers {

namespace asio = boost::asio;

/// A controller that works while this process leads. One thread.
class Runnable {
 public:
  virtual ~Runnable() = default;

  /// Reconciles until cancelled. Called again when leadership comes back.
  virtual asio::awaitable<void> run() = 0;
  /// True once every cache that it reconciles from is complete.
  virtual bool has_synced() const = 0;
  /// True while keys are due or being worked on.
  virtual bool is_busy() const = 0;
};

}  // namespace liqo::controllers
