// When the APIService for the usage metrics of consumers exists. While its server does not answer, Kubernetes removes
// no namespace in the whole cluster: metrics are not worth that for long.
#pragma once

#include <optional>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the API server reaches what is behind an APIService, as its condition Available says.
enum class ApiServiceAnswers {
  yes,
  no,            ///< or nobody has looked yet
  no_endpoints,  ///< no replica is ready: it continues when one is
};
ApiServiceAnswers read_available(const kube::Object& api_service);

/// What is seen at one time.
struct ApiServiceSnapshot {
  enum class Stored {
    none,
    ours,
    others,  ///< for another Service
    going,   ///< it is being deleted
  };
  Stored stored = Stored::none;
  bool is_right = false;  ///< it says what it has to
  ApiServiceAnswers answers = ApiServiceAnswers::no;
  bool has_front_proxy = true;  ///< API servers can prove who they are: without that no caller is believed
  bool is_namespace_going = false;
  bool is_ready = true;  ///< this process could answer
};

/// What the leader remembers from one look to the next. A new leader begins without.
struct ApiServiceMemory {
  bool is_on_trial = false;                       ///< it was made here, and has not been available since
  std::optional<kube::TimePoint> silent_since{};  ///< it is not available
  std::optional<kube::TimePoint> withdrawn{};     ///< it was removed for that
  bool operator==(const ApiServiceMemory&) const = default;
};

enum class ApiServiceStep { leave, write, remove_with_namespace, remove_without_front_proxy, withdraw };

struct ApiServicePlan {
  ApiServiceStep step = ApiServiceStep::leave;
  ApiServiceMemory memory{};              ///< once the step is done
  std::optional<kube::Duration> again{};  ///< when to look again though nothing has changed
};

/// Plans the next step for the APIService, which is never there without a front proxy. One that is not available for
/// three minutes is withdrawn, and made again an hour later, or when the caller has cleared `memory.withdrawn`; one
/// that was just made has a minute.
ApiServicePlan plan_api_service(const ApiServiceSnapshot& snapshot, ApiServiceMemory memory, kube::TimePoint now);

}  // namespace liqo::core
