// Finds out from the provider's Events why pods of a virtual node are not ready.
// Tested by test/unit/controllers/offloading/pod_warnings_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/offloading/memory_of.hpp"
#include "core/common/forging_context.hpp"
#include "core/offloading/remote_warning.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Asks the provider for the Events of remote pods that do not become ready, and reports the newest warning at home.
/// Guarantees: one request is under way at a time, with a pause after it. If the provider refuses the Events of a twin,
/// they are not requested again for ten minutes. One thread.
class PodWarnings {
 public:
  /// A pod at home and its remote pod.
  struct Pair {
    kube::Object local, remote;
  };
  struct Reader {
    /// The pair with that key at home; nothing if no warning is wanted.
    std::function<std::optional<Pair>(const kube::ObjectKey&)> find;
    /// Called when there is another warning about the pod than before. Must not suspend.
    std::function<void(const kube::ObjectKey&)> changed;
  };
  /// `forging` and `provider` outlive the object.
  PodWarnings(const core::ForgingContext& forging, kube::Api& provider, Context context, Reader reader);

  /// Asks until cancelled: while this process leads.
  asio::awaitable<void> run() { return questions_.run(); }
  /// Takes in the state of the remote pod, and schedules a request for its Events when that is due.
  void see(const kube::Object& local, const kube::Object& remote);
  /// The provider's warning about the pod; "" = none; null = not asked yet.
  const std::string* words(const kube::Object& local);
  /// Sends an Event with the message, unless the status of `local`, read before the write, shows it already.
  void report(const kube::Object& local, const std::string& message);
  /// Forgets a pod that is gone.
  void forget(const kube::ObjectKey& key) { memory_.erase(key); }

 private:
  /// What is remembered of one local pod.
  struct Memory {
    std::string uid;
    core::WarningQuestions questions;
  };
  Memory& memory_of(const kube::ObjectKey& key, std::string_view uid) {
    return controllers::memory_of(memory_, key, uid);
  }
  /// Requests the Events of one remote pod, if that is due.
  asio::awaitable<kube::Outcome> ask(kube::WorkKey key);
  /// Notes that this process may not read the Events of a twin namespace.
  void note_no_right(const std::string& remote_namespace, const kube::Failure& refusal);

  const core::ForgingContext& forging_;
  kube::Api& provider_;
  Context context_;
  Reader reader_;
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  /// Until when the Events of each twin namespace are not requested, because the provider refuses that.
  std::map<std::string, kube::TimePoint> no_right_until_;
  kube::Controller questions_;  ///< a slow answer holds up no pod
  kube::Log log_;
};

}  // namespace liqo::controllers
