// The service-account tokens that the pods of a virtual node have at their provider.
// Tested by test/unit/controllers/offloading/pod_tokens_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/counters.hpp"
#include "controllers/links/twin_watches.hpp"
#include "controllers/offloading/home_tokens.hpp"
#include "controllers/offloading/memory_of.hpp"
#include "core/offloading/service_account_token.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

/// Guarantees: a Secret that is not ours is neither changed nor deleted. Nothing is decided about a Secret before the
/// watch of its twin is complete. Tokens are requested at home only when the Secret needs them. Refusals of the
/// provider or of the API server at home are reported by an Event of the pod. One thread.
class PodTokens {
 public:
  /// After what time to look again; nothing = not before something changes.
  using NextLook = kube::Result<std::optional<kube::Duration>>;
  /// A subscriber to what the watches see. Handlers must not suspend.
  struct Reader {
    std::function<void(const std::string& local, const kube::ObjectKey& secret)> changed;
    std::function<void(const std::string& local)> synced;
  };
  /// `forging`, `caches`, `provider` (to read and write there) and `home` outlive the object.
  PodTokens(const core::ForgingContext& forging, kube::InformerSet& caches, kube::Api& provider, HomeTokens& home,
            Context context, Reader reader);

  /// Adds the twin of a namespace; its Secrets are not watched yet.
  void join(const std::string& local, std::shared_ptr<TwinWatch> twin);
  void leave(const std::string& local) { twins_.erase(local); }
  /// Starts the watch of the Secrets in the namespace's twin, unless it runs already. It is started for the first pod
  /// that needs one.
  void watch(const std::string& local);
  bool is_watched(const std::string& local) const { return cache_of(local) != nullptr; }
  /// Whether it is known which Secrets exist; this is waited for only if pods use tokens.
  bool has_synced(const std::string& local) const;
  /// The Secrets in the namespace's twin; none if they are not watched.
  std::vector<kube::ObjectKey> secrets(const std::string& local) const;
  bool holds_any(const std::string& local) const;
  std::optional<kube::Object> find(const std::string& local, const kube::ObjectKey& secret) const;
  /// The watch of these Secrets, for answers to writes of others with their labels; null = there is none.
  kube::Informer* cache_of(const std::string& local) const;

  /// Brings the Secret with the pod's tokens up to date; returns when to look again. `pod`: null = gone. `mounted`: the
  /// tokens that its ShadowPod mounts. Does nothing until the Secrets are known; the reader is notified of that.
  asio::awaitable<NextLook> ensure(kube::ObjectKey key, const kube::Object* pod, std::string remote_namespace,
                                   core::TokenKeys mounted);
  /// Forgets the tokens of a pod that is gone.
  void forget(const kube::ObjectKey& key) { issued_.erase(key); }

 private:
  struct Twin {
    std::shared_ptr<TwinWatch> watch;
    kube::InformerHandle secrets;
    ReflectionCounters counters;
  };
  /// The tokens that were issued to one local pod.
  struct Memory {
    std::string uid;
    core::IssuedTokens tokens;
    bool told_unrenewed = false;  ///< it was reported that a token expires
  };
  /// A pod, its Secret and its tokens, and what is to be done about them.
  struct Snapshot {
    kube::ObjectKey key, secret_key;
    const kube::Object* local;  ///< null = gone
    std::optional<kube::Object> secret = {};
    core::IssuedTokens issued = {};
    core::TokenPlan plan = {};
    bool is_unrenewed = false;  ///< a token expires because the pod may not have it any more
  };

  Twin* find_twin(const std::string& local);
  Memory& memory_of(const kube::ObjectKey& key, std::string_view uid) {
    return controllers::memory_of(issued_, key, uid);
  }
  asio::awaitable<kube::Result<Snapshot>> look_at(kube::ObjectKey key, const kube::Object* pod,
                                                  std::string remote_namespace, core::TokenKeys mounted);
  asio::awaitable<kube::Result<core::IssuedTokens>> request(const kube::Object& local,
                                                            std::vector<core::TokenRequest> requests);
  /// Does what ensure() does, without counting a failure.
  asio::awaitable<NextLook> bring(kube::ObjectKey key, const kube::Object* pod, std::string remote_namespace,
                                  core::TokenKeys mounted);
  /// Each carries out one plan.
  asio::awaitable<NextLook> act(Snapshot& seen, const core::token_action::Nothing& plan);
  asio::awaitable<NextLook> act(Snapshot& seen, const core::token_action::RefuseForeign& plan);
  asio::awaitable<NextLook> act(Snapshot& seen, const core::token_action::Remove& plan);
  asio::awaitable<NextLook> act(Snapshot& seen, const core::token_action::Write& plan);
  asio::awaitable<NextLook> act(Snapshot& seen, const core::token_action::Keep& plan);
  asio::awaitable<kube::Result<void>> remove(const Snapshot& seen, std::string uid);
  /// Creates the Secret, or changes `known`. Fails if another object has taken the name meanwhile.
  asio::awaitable<kube::Result<kube::Object>> write(kube::Object wanted, std::optional<kube::Object> known);
  /// Sends an Event that the provider refuses the pod's Secret, unless a later try may succeed.
  void report_refusal(const kube::Object& local, const kube::Failure& refusal);

  const core::ForgingContext& forging_;
  kube::InformerSet& caches_;
  kube::Api& provider_;
  Context context_;
  HomeTokens& home_;
  Reader reader_;
  std::map<std::string, Twin, std::less<>> twins_;  ///< by local namespace
  std::unordered_map<kube::ObjectKey, Memory> issued_;
};

}  // namespace liqo::controllers
