// The effectful half of reflection: keeps the copies of one kind of object in the twin namespaces of one provider.
#pragma once

#include <map>
#include <string>

#include "kube/runtime/controller.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "liqo/core/reflection_filters.hpp"
#include "liqo/reflection/kind.hpp"
#include "liqo/reflector/counters.hpp"

namespace liqo::reflector {

namespace asio = boost::asio;

/// What a Reflector works with; everything outlives it.
struct ReflectorContext {
  kube::InformerSet& home;
  kube::InformerSet& provider;
  kube::EventRecorder& events;  ///< of the home cluster
  kube::async::Clock& clock;
  kube::Random& random;
  kube::Metrics& metrics;
};

/// One kind, one provider, any number of namespaces. Level-triggered on both sides; nothing is written or deleted in a
/// namespace before the caches of both sides are complete. One thread.
class Reflector {
 public:
  Reflector(const asio::any_io_executor& executor, const reflection::ReflectedKind& kind,
            reflection::SelectionPolicy policy, core::ForgingContext forging, ReflectorContext context);

  /// Begins to reflect a namespace. Idempotent for the same twin.
  void start_namespace(const std::string& local, const std::string& remote);
  /// Stops; the copies stay as they are: the twin namespace is removed as a whole.
  void stop_namespace(const std::string& local);
  /// Which labels and annotations copies leave out from now on; what is there already is brought in line.
  void set_filters(core::ReflectionFilters filters);
  /// Reconciles until cancelled.
  asio::awaitable<void> run() { return controller_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

 private:
  struct Namespace {
    std::string remote;
    kube::InformerHandle home, provider;
    ReflectionCounters counters;
  };
  /// reconcile() without the counting of failures.
  asio::awaitable<kube::Outcome> reflect(kube::WorkKey key);
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  void enqueue(const std::string& local_namespace, std::string name);
  void enqueue_all(const std::string& local_namespace);

  const reflection::ReflectedKind& kind_;
  reflection::SelectionPolicy policy_;
  core::ForgingContext forging_;
  ReflectorContext context_;
  std::map<std::string, Namespace> namespaces_;  ///< by local namespace
  kube::Controller controller_;
};

}  // namespace liqo::reflector
