// The parts of a process that a Reflector needs.
// Tested by test/unit/controllers/reflection/reflector_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "controllers/links/twin_owners.hpp"
#include "kube/async/slots.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/store_budget.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// The dependencies of a Reflector; all of them outlive it.
struct ReflectorContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& provider;
  kube::StoreBudget& stores;    ///< bounds what is cached of the provider
  kube::EventRecorder& events;  ///< of the home cluster
  /// Whether the statuses of copies in the twin of a namespace come home from this provider; null = they do.
  std::function<bool(const std::string& local)> brings_home = nullptr;
  /// Reserves a write at home that the provider causes, with the size of the object, and returns how long to wait for
  /// its turn; null = such writes are not bounded.
  std::function<kube::Duration(std::size_t bytes)> home_write = nullptr;
  /// Whether hardly anything can happen in the twin of a namespace; null = that is not so.
  std::function<bool(const std::string& local)> is_quiet = nullptr;
  /// Called when something was copied there, or a copy was found there.
  std::function<void(const std::string& local)> copied = nullptr;
  /// The owners of what is written into twins; null = copies get none.
  TwinOwners* owners = nullptr;
  /// A slot is taken for each list at home; null = the number of lists at a time is not bounded.
  kube::async::Slots* home_lists = nullptr;
  /// Whether it may begin to reconcile; asked until it is true. Null = at once.
  std::function<bool()> may_begin = nullptr;
  /// Whether objects of a namespace at home may be annotated; null = they may.
  std::function<bool(const std::string& local)> may_annotate = nullptr;
};

}  // namespace liqo::controllers
