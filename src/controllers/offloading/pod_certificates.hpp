// The certificates that signers of this cluster make for its pods in a provider.
// Tested by test/unit/controllers/offloading/pod_certificates_test.cpp.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_key_maker.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "core/offloading/pod_certificates.hpp"

namespace liqo::controllers {

/// Makes the keys, asks for the certificates as the kubelet of a node does, and keeps a Secret in the twin with both.
/// The Secret is watched by PodTokens, whose labels it has.
///
/// Guarantees: a key is in this process and in the Secret alone. One request is under way for a certificate at a time,
/// the next one comes after ten minutes at the earliest, and all pods of the node together make `most_requests` in
/// `requests_window`. After a restart the Secret says what there is; the key of a request that is under way then is
/// lost, and another is made. What a signer refuses is not asked for again. Somebody else's Secret is left alone. What
/// is wrong with each certificate is told once. Whatever the provider does with a ShadowPod or the Secret: no pod gets
/// certificates that is not to have them, and the same content is written at a bounded rate. One thread.
class PodCertificates {
 public:
  using NextLook = kube::Result<std::optional<kube::Duration>>;
  static constexpr std::chrono::minutes request_pause{10};
  static constexpr std::size_t most_requests = 64;
  static constexpr std::chrono::seconds requests_window{10};
  /// After this time it is asked again whether this cluster takes requests, if it did not.
  static constexpr std::chrono::hours refused_pause{1};

  /// Both outlive it.
  PodCertificates(OffloadingNode& node, PodTokens& tokens);

  /// Gets the certificates of a pod that is to be sent. Returns how long it has to wait; nothing = it may be sent, also
  /// if a signer takes its time: the pod waits in the provider as it would here.
  asio::awaitable<NextLook> prepare(const kube::Object& local, std::string remote_namespace);
  /// Keeps those up to date that the ShadowPod of the pod mounts. Returns when to look again.
  asio::awaitable<NextLook> keep(const kube::Object& local, const kube::Object& shadow);
  /// Removes what is left of a pod that is gone.
  asio::awaitable<kube::Result<void>> remove(kube::ObjectKey local, std::string remote_namespace);
  void forget(const kube::ObjectKey& local) { known_.erase(local); }

 private:
  /// The way to one certificate.
  struct Request {
    std::optional<PodKey> made;  ///< a key for the next request
    std::string name, key;       ///< of the request that is under way, "" = none is; its private key
    std::optional<kube::TimePoint> asked_at;
    kube::TimePoint next{};                     ///< when it may be asked for again
    std::optional<kube::TimePoint> key_wanted;  ///< since when a key is waited for
    std::string refusal;                        ///< by the signer: it is not asked for again
  };
  struct Memory {
    std::string uid;
    core::PodCertificateSet issued;
    std::map<std::string, Request> requests;  ///< by the key of the source
    bool has_read = false;                    ///< the Secret of an earlier process
    std::optional<kube::TimePoint> begun;
    std::map<std::string, std::string, std::less<>> told;  ///< what is wrong, by the key of the source or a subject
    /// When the Secret was written with what is issued now, and how often.
    std::optional<kube::TimePoint> written_at;
    unsigned writes = 0;
  };

  /// A namespace in which this process has no right to make requests.
  struct Forbidden {
    kube::TimePoint since{}, asked_at{};
  };

  Memory& memory_of(const kube::Object& local) { return controllers::memory_of(known_, local.key(), local.uid()); }
  /// Reports what is wrong with one certificate (the key of its source) or with something else, once.
  void tell(const kube::Object& local, std::string_view what, std::string words);
  /// The Secret of a pod of that name, if it is known and ours.
  std::optional<kube::Object> find(const kube::ObjectKey& local, std::string remote_namespace) const;
  /// Notes that there is no right in the namespace. Returns whether that lasts.
  bool note_forbidden(const std::string& ns);
  /// Removes what an earlier pod of the name has left.
  asio::awaitable<kube::Result<void>> clear(const kube::Object& local, std::string remote_namespace);
  /// How long a pod waits for the Secrets to be known, or for the right to watch them.
  kube::Duration await_secrets(const kube::Object& local);
  /// Whether this cluster takes requests for this namespace; nothing = it is not known.
  asio::awaitable<kube::Result<std::optional<bool>>> is_served(const kube::Object& local);
  asio::awaitable<NextLook> bring(const kube::Object& local, std::string remote_namespace);
  /// Goes on with one certificate. Returns when to look again.
  asio::awaitable<kube::Result<kube::Duration>> advance(const kube::Object& local, core::CertificateSource source);
  asio::awaitable<kube::Result<kube::Duration>> ask(const kube::Object& local, core::CertificateSource source);
  asio::awaitable<kube::Result<kube::Duration>> look(const kube::Object& local, core::CertificateSource source);
  /// Takes in that a request was not accepted.
  kube::Result<kube::Duration> not_asked(const kube::Object& local, const core::CertificateSource& source,
                                         kube::Failure failure);
  /// How long to wait before another request; 0 = none. Counts it.
  kube::Duration take_turn();
  /// Writes the Secret if it lacks something. Returns when to do so again.
  asio::awaitable<kube::Result<kube::Duration>> write(const kube::Object& local, std::string remote_namespace);
  asio::awaitable<kube::Result<void>> remove_secret(std::string ns, kube::Object secret);

  OffloadingNode& node_;
  PodTokens& tokens_;
  PodKeyMaker keys_;
  std::unordered_map<kube::ObjectKey, Memory> known_;
  std::deque<kube::TimePoint> asked_;                        ///< the last requests
  std::map<std::string, Forbidden, std::less<>> forbidden_;  ///< by namespace
  bool is_served_ = false;
  std::optional<kube::TimePoint> refused_at_;
};

}  // namespace liqo::controllers
