// The parts of a process that a Reflector needs.
// Tested by test/unit/controllers/reflection/reflector_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "kube/async/slots.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/store_budget.hpp"

namespace liqo::reflector {

namespace asio = boost::asio;

/// What a Reflector works with; everything outlives it.
struct ReflectorContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& provider;
  kube::StoreBudget& stores;    ///< what is held of the provider
  kube::EventRecorder& events;  ///< of the home cluster
  /// Whether what comes home of copies in the twin of a namespace is to come from this provider; null = it is.
  std::function<bool(const std::string& local)> brings_home = nullptr;
  /// Takes a write at home that the provider's word is the cause of, with the bytes of the object that is written, and
  /// answers how long its turn has to be waited for; null = nothing bounds these.
  std::function<kube::Duration(std::size_t bytes)> home_write = nullptr;
  /// Whether hardly anything can happen in the twin of a namespace; null = that is not so.
  std::function<bool(const std::string& local)> is_quiet = nullptr;
  /// Called when something was copied there, or found to be.
  std::function<void(const std::string& local)> copied = nullptr;
  /// Taken for each list at home; null = nothing bounds how many run at a time.
  kube::async::Slots* home_lists = nullptr;
  /// Whether it may begin to reconcile; once it is true it does. Null = at once.
  std::function<bool()> may_begin = nullptr;
};

}  // namespace liqo::reflector
