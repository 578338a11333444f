#include "controllers/offloading/pod_certificates.hpp"

#include <algorithm>
#include <utility>

#include "controllers/offloading/memory_of.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/service_account_token.hpp"
#include "kube/base/near_time.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration unknown_pause = 1s, busy_pause = 200ms, failed_pause = 15s, foreign_pause = 20s;
/// The pause before a name is tried again that an object of somebody else has, which no watch shows.
constexpr kube::Duration foreign_name_pause = 1min;
/// How long a pod waits at home for its certificates before it waits in the provider.
constexpr kube::Duration first_patience = 5s;
/// A signer that has not answered for so long, and lack of rights that lasts so long, are reported.
constexpr kube::Duration signer_patience = 1min, rights_patience = 20s;
/// The pause before it is asked again whether there is a right, until the lack of it is reported, and how often a pod
/// that waits for it looks then.
constexpr kube::Duration rights_pause = 2s, without_right_pause = 10s;
/// The pauses between two looks at a key that is being made, soon and later.
constexpr kube::Duration key_pause = 1s, late_key_pause = 5s;
/// The pause before a Secret is written again with the same content. It doubles with each time.
constexpr kube::Duration rewrite_pause = 15s, longest_rewrite_pause = 1h;
/// Subjects of reports other than a certificate.
constexpr std::string_view of_right = "right", of_api = "api", of_secret = "secret", of_settings = "settings";
/// What never is due.
constexpr kube::Duration never = 24h * 365;

/// The pause between two looks at a request of that age.
kube::Duration look_pause(kube::Duration age) { return age < 10s ? 300ms : age < 1min ? kube::Duration(3s) : 30s; }

std::string of_signer(const core::CertificateSource& source) {
  return "the certificate of signer " + kube::in_quotes(source.signer) + " for this pod";
}

std::string without_right(const std::string& ns) {
  return "liqod may not request certificates in namespace " + ns +
         ": upgrade the installation with its chart, or set offloading.podCertificates to provider";
}

std::string unrenewed(const core::ClusterPair& clusters) {
  return "the certificates that this pod has in cluster " + clusters.remote +
         " are not renewed, because its annotations or the settings of cluster " + clusters.local +
         " (offloading.podCertificates in the chart, VkOptionsTemplate) give it none any more: create the pod "
         "again, or change them back";
}

std::string unwatched(const std::string& cluster, const kube::Failure& why) {
  return "cluster " + cluster + " does not let this cluster watch Secrets, by which certificates reach this pod: " +
         kube::one_line(core::refusal_words(why), core::max_refusal);
}

std::string unserved(const std::string& home) {
  return "the pod gets no certificate of a signer of cluster " + home +
         ", which takes no requests for those of pods (certificates.k8s.io/v1)";
}

std::string without_account(const core::CertificateSource& source, const std::string& account) {
  return of_signer(source) + " cannot be requested: there is no service account " + account + ": create it";
}

std::string unanswered(const core::CertificateSource& source, const std::string& home) {
  return of_signer(source) + " has been asked for in cluster " + home +
         ", and the signer has not answered for a minute";
}

std::string refused_secret(const kube::ObjectKey& secret, const std::string& cluster, const kube::Failure& why) {
  return "cluster " + cluster + " refuses Secret " + secret.text() +
         " with the certificates of this pod: " + kube::one_line(core::refusal_words(why), core::max_refusal);
}

std::string not_ours(const kube::ObjectKey& secret, const std::string& cluster) {
  return "Secret " + secret.text() + " of cluster " + cluster + " is not ours: the pod gets no certificates";
}

}  // namespace

PodCertificates::PodCertificates(OffloadingNode& node, PodTokens& tokens)
    : node_(node), tokens_(tokens), keys_(node.context.entropy) {
  node_.forging.requests_certificates = &is_served_;
}

void PodCertificates::tell(const kube::Object& local, std::string_view what, std::string words) {
  std::string& told = memory_of(local).told[std::string(what)];
  if (std::exchange(told, words) != words) node_.warn(local, api::reasons::no_certificate, std::move(words));
}

std::optional<kube::Object> PodCertificates::find(const kube::ObjectKey& local, std::string remote_namespace) const {
  auto secret = tokens_.find(local.ns, {std::move(remote_namespace), core::pod_certificates_name(local.name)});
  return secret && core::is_certificate_secret(*secret, node_.forging.clusters) ? std::move(secret) : std::nullopt;
}

bool PodCertificates::note_forbidden(const std::string& ns) {
  const kube::TimePoint now = node_.context.clock.now();
  Forbidden& forbidden = forbidden_.try_emplace(ns, Forbidden{.since = now}).first->second;
  forbidden.asked_at = now;
  return now - forbidden.since >= rights_patience;
}

asio::awaitable<kube::Result<std::optional<bool>>> PodCertificates::is_served(const kube::Object& local) {
  const kube::TimePoint now = node_.context.clock.now();
  if (is_served_) co_return true;
  if (refused_at_ && now - *refused_at_ < refused_pause) co_return false;
  const std::string ns(local.ns());
  if (const auto forbidden = forbidden_.find(ns); forbidden != forbidden_.end()) {
    const bool lasts = now - forbidden->second.since >= rights_patience;
    if (lasts) tell(local, of_right, without_right(ns));
    if (now - forbidden->second.asked_at < (lasts ? signer_patience : rights_pause)) co_return std::nullopt;
    // The other pods of the namespace wait for this answer.
    forbidden->second.asked_at = now;
  }
  auto listed = co_await kube::list_all(node_.context.home.api(), {api::kinds::pod_certificate_requests, ns},
                                        {.limit = 1, .metadata_only = true}, [](const kube::Object&) { return false; });
  if (listed) {
    is_served_ = true;
    forbidden_.clear();
    co_return true;
  }
  if (listed.error().is_not_found()) {
    refused_at_ = node_.context.clock.now();
    co_return false;
  }
  if (!listed.error().is_forbidden())
    co_return kube::fail(std::move(listed.error()), "looking whether certificates of pods can be requested");
  // The right comes with a RoleBinding of the namespace that may be on its way.
  note_forbidden(ns);
  co_return std::nullopt;
}

asio::awaitable<PodCertificates::NextLook> PodCertificates::prepare(const kube::Object& local,
                                                                    std::string remote_namespace) {
  if (!core::wants_certificates(local, node_.forging)) {
    KUBE_CO_TRYV(co_await clear(local, std::move(remote_namespace)));
    co_return std::nullopt;
  }
  KUBE_CO_TRY(served, co_await is_served(local));
  if (!served) {
    const bool is_told = memory_of(local).told.contains(of_right);
    co_return std::optional<kube::Duration>(is_told ? without_right_pause : unknown_pause);
  }
  if (!*served) {
    tell(local, of_api, unserved(node_.forging.clusters.local));
    co_return std::nullopt;
  }
  Memory& memory = memory_of(local);
  const kube::TimePoint begun = memory.begun.value_or(node_.context.clock.now());
  memory.begun = begun;
  const std::size_t wanted = core::certificate_sources(local).size();
  KUBE_CO_TRY(next, co_await bring(local, std::move(remote_namespace)));
  if (memory_of(local).issued.size() >= wanted || node_.context.clock.now() - begun >= first_patience)
    co_return std::nullopt;
  co_return next && *next < unknown_pause ? next : std::optional<kube::Duration>(unknown_pause);
}

asio::awaitable<PodCertificates::NextLook> PodCertificates::keep(const kube::Object& local,
                                                                 const kube::Object& shadow) {
  std::string remote_namespace(shadow.ns());
  if (!core::mounts_certificates(shadow) || core::certificate_sources(local).empty()) {
    KUBE_CO_TRYV(co_await clear(local, std::move(remote_namespace)));
    co_return std::nullopt;
  }
  // The ShadowPod is in the hands of the provider: that it mounts certificates is no reason to make any.
  if (!core::wants_certificates(local, node_.forging)) {
    tokens_.watch(std::string(local.ns()));
    const auto secret = find(local.key(), remote_namespace);
    if (secret && secret->annotation(api::annotations::token_pod_uid) == local.uid())
      tell(local, of_settings, unrenewed(node_.forging.clusters));
    // Nothing of home is to be there.
    if (local.annotation(api::annotations::api_server_support) == "disabled") {
      KUBE_CO_TRYV(co_await remove(local.key(), std::move(remote_namespace)));
    }
    co_return std::nullopt;
  }
  co_return co_await bring(local, std::move(remote_namespace));
}

kube::Duration PodCertificates::await_secrets(const kube::Object& local) {
  const kube::Informer* cache = tokens_.cache_of(std::string(local.ns()));
  if (!cache || !cache->trouble() || !cache->trouble()->is_forbidden()) return unknown_pause;
  tell(local, of_secret, unwatched(node_.cluster(), *cache->trouble()));
  return without_right_pause;
}

asio::awaitable<PodCertificates::NextLook> PodCertificates::bring(const kube::Object& local,
                                                                  std::string remote_namespace) {
  const std::string ns(local.ns());
  tokens_.watch(ns);
  if (!tokens_.has_synced(ns)) co_return std::optional<kube::Duration>(await_secrets(local));
  const core::CertificateSources sources = core::certificate_sources(local);
  const kube::ObjectKey key{remote_namespace, core::pod_certificates_name(local.name())};
  if (const auto secret = tokens_.find(ns, key)) {
    if (!core::is_certificate_secret(*secret, node_.forging.clusters)) {
      tell(local, of_secret, not_ours(key, node_.cluster()));
      co_return std::optional<kube::Duration>(foreign_pause);
    }
    if (secret->annotation(api::annotations::token_pod_uid) != local.uid()) {
      KUBE_CO_TRYV(co_await remove_secret(ns, *secret));
      // Its end enqueues the pod, however late that is.
      co_return std::optional<kube::Duration>(secret->is_deleting() ? foreign_pause : busy_pause);
    }
    if (Memory& memory = memory_of(local); !std::exchange(memory.has_read, true) && memory.issued.empty())
      memory.issued = core::read_certificate_secret(*secret, sources);
  }
  // The Secret is written before a certificate is asked for that is not due yet.
  kube::Duration next = never;
  for (const core::CertificateSource& source : sources) {
    KUBE_CO_TRY(due, co_await advance(local, source));
    next = std::min(next, due);
  }
  if (!memory_of(local).issued.empty()) {
    KUBE_CO_TRY(again, co_await write(local, std::move(remote_namespace)));
    next = std::min(next, again);
  }
  co_return next < never ? std::optional(next) : std::nullopt;
}

asio::awaitable<kube::Result<kube::Duration>> PodCertificates::advance(const kube::Object& local,
                                                                       core::CertificateSource source) {
  Memory& memory = memory_of(local);
  Request& request = memory.requests[source.key];
  const kube::TimePoint now = node_.context.clock.now();
  if (!request.refusal.empty()) co_return never;
  if (!request.name.empty()) co_return co_await look(local, std::move(source));
  if (const auto issued = memory.issued.find(source.key); issued != memory.issued.end()) {
    const kube::Duration left = kube::near_time(issued->second.renew_at) - node_.context.clock.wall();
    if (left > 0s) co_return left + node_.context.random.between(0s, 30s);
  }
  if (now < request.next) co_return request.next - now;
  co_return co_await ask(local, std::move(source));
}

kube::Duration PodCertificates::take_turn() {
  const kube::TimePoint now = node_.context.clock.now();
  while (!asked_.empty() && now - asked_.front() >= requests_window) asked_.pop_front();
  if (asked_.size() >= most_requests) return asked_.front() + requests_window - now;
  asked_.push_back(now);
  return 0s;
}

asio::awaitable<kube::Result<kube::Duration>> PodCertificates::ask(const kube::Object& local,
                                                                   core::CertificateSource source) {
  if (Request& request = memory_of(local).requests[source.key]; !request.made) {
    auto key = keys_.make(std::string(local.uid()) + source.key, source.key_type);
    if (!key) {
      const kube::TimePoint now = node_.context.clock.now();
      if (!request.key_wanted) request.key_wanted = now;
      co_return now - *request.key_wanted < 10s ? key_pause : late_key_pause;
    }
    request.key_wanted.reset();
    if (!*key) {
      request.refusal = key->error().text();
      tell(local, source.key, of_signer(source) + " cannot be requested: " + request.refusal);
      co_return never;
    }
    request.made = std::move(**key);
  }
  // Those that wait for their turn read nothing.
  if (const kube::Duration wait = take_turn(); wait > 0s) co_return wait + node_.context.random.between(0s, 2s);
  kube::Api& home = node_.context.home.api();
  KUBE_CO_TRY(account,
              co_await kube::find_live(home, kube::resources::service_accounts,
                                       {std::string(local.ns()), core::service_account_of(local)}),
              "reading the service account of a certificate");
  KUBE_CO_TRY(machine, co_await kube::find_live(home, kube::resources::nodes, {"", node_.forging.node_name}),
              "reading the node of a certificate");
  if (!account) tell(local, source.key, without_account(source, core::service_account_of(local)));
  if (!account || !machine) co_return failed_pause;
  Request& request = memory_of(local).requests[source.key];
  if (!request.made) co_return busy_pause;
  const kube::Object asked = core::forge_certificate_request(
      local, source, {.account_uid = std::string(account->uid()), .node_uid = std::string(machine->uid())},
      request.made->request);
  // Known before it is sent: the answer may be lost.
  const kube::TimePoint now = node_.context.clock.now();
  request.name = asked.name();
  request.key = request.made->pem;
  request.asked_at = now;
  request.next = now + request_pause;
  auto created = co_await home.create(api::kinds::pod_certificate_requests, asked, {});
  if (!created && !created.error().is_already_exists()) co_return not_asked(local, source, std::move(created.error()));
  memory_of(local).requests[source.key].made.reset();
  forbidden_.erase(std::string(local.ns()));
  co_return look_pause(0s);
}

kube::Result<kube::Duration> PodCertificates::not_asked(const kube::Object& local,
                                                        const core::CertificateSource& source, kube::Failure failure) {
  Request& request = memory_of(local).requests[source.key];
  // It may be stored all the same: then it is found.
  if (!failure.is_permanent()) {
    request.made.reset();
    return look_pause(0s);
  }
  request.name.clear();
  request.key.clear();
  const std::string words = kube::one_line(core::refusal_words(failure), core::max_refusal);
  std::string sentence = of_signer(source) + " cannot be requested: " + words;
  if (failure.is_forbidden()) {
    // The right comes with a RoleBinding of the namespace that may be on its way. The key waits for it.
    const bool lasts = note_forbidden(std::string(local.ns()));
    if (lasts) tell(local, source.key, std::move(sentence));
    const kube::Duration pause = lasts ? signer_patience : rights_pause;
    request.next = node_.context.clock.now() + pause;
    return pause;
  }
  request.made.reset();
  // The API may come.
  if (!failure.is_not_found()) request.refusal = words;
  tell(local, source.key, std::move(sentence));
  return request.refusal.empty() ? kube::Duration(request_pause) : never;
}

asio::awaitable<kube::Result<kube::Duration>> PodCertificates::look(const kube::Object& local,
                                                                    core::CertificateSource source) {
  const std::string name = memory_of(local).requests[source.key].name;
  KUBE_CO_TRY(live,
              co_await kube::find_live(node_.context.home.api(), api::kinds::pod_certificate_requests,
                                       {std::string(local.ns()), name}),
              "looking at the request for a certificate");
  Memory& memory = memory_of(local);
  Request& request = memory.requests[source.key];
  const kube::TimePoint now = node_.context.clock.now();
  if (request.name != name) co_return busy_pause;
  const kube::Duration age = now - request.asked_at.value_or(now);
  if (!live) {
    // It was not stored, or Kubernetes has removed it unanswered.
    request.name.clear();
    request.key.clear();
    co_return std::max<kube::Duration>(request.next - now, busy_pause);
  }
  core::CertificateAnswer answer = core::read_certificate_answer(*live);
  if (!answer.refusal.empty()) {
    request.refusal = answer.refusal;
    request.name.clear();
    request.key.clear();
    tell(local, source.key, of_signer(source) + " was refused: " + answer.refusal);
    co_return never;
  }
  if (!answer.issued) {
    if (age >= signer_patience) tell(local, source.key, unanswered(source, node_.forging.clusters.local));
    co_return look_pause(age);
  }
  answer.issued->key = std::exchange(request.key, {});
  request.name.clear();
  memory.issued.insert_or_assign(source.key, std::move(*answer.issued));
  memory.told.erase(source.key);
  memory.written_at.reset();
  memory.writes = 0;
  co_return busy_pause;
}

asio::awaitable<kube::Result<kube::Duration>> PodCertificates::write(const kube::Object& local,
                                                                     std::string remote_namespace) {
  const std::string ns(local.ns());
  kube::Object wanted = core::forge_certificate_secret(local, remote_namespace, memory_of(local).issued, node_.forging);
  const auto known = tokens_.find(ns, wanted.key());
  if (known && (known->is_deleting() || !core::lacks_certificates(*known, wanted))) co_return never;
  // Whoever at the provider removes or changes what it holds does not keep this process busy.
  Memory& memory = memory_of(local);
  const kube::TimePoint now = node_.context.clock.now();
  const kube::Duration pause = std::min(rewrite_pause * (1 << std::min(memory.writes, 10U)), longest_rewrite_pause);
  if (memory.written_at && now - *memory.written_at < pause) co_return *memory.written_at + pause - now;
  memory.writes += memory.written_at ? 1 : 0;
  // Neither write touches an object that has taken the name since.
  if (known) {
    wanted.mutable_metadata()["uid"] = known->uid();
    wanted.mutable_metadata()["resourceVersion"] = known->resource_version();
  }
  kube::Api& provider = node_.provider.api;
  auto written =
      known ? co_await provider.apply(kube::resources::secrets, wanted, api::reflection_manager)
            : co_await provider.create(kube::resources::secrets, wanted, {.field_manager = api::reflection_manager});
  if (written) {
    memory_of(local).written_at = now;
    memory_of(local).told.erase(std::string(of_secret));
    if (kube::Informer* cache = tokens_.cache_of(ns)) cache->observe(std::move(*written));
    co_return never;
  }
  if (written.error().is_already_exists()) {
    KUBE_CO_TRY(live, co_await kube::find_live(provider, kube::resources::secrets, wanted.key()),
                "looking for the Secret with certificates");
    const bool is_ours = live && core::is_certificate_secret(*live, node_.forging.clusters);
    if (kube::Informer* cache = tokens_.cache_of(ns); is_ours && cache) cache->observe(std::move(*live));
    if (live && !is_ours) tell(local, of_secret, not_ours(wanted.key(), node_.cluster()));
    co_return is_ours ? unknown_pause : foreign_name_pause;
  }
  if (written.error().is_permanent())
    tell(local, of_secret, refused_secret(wanted.key(), node_.cluster(), written.error()));
  co_return kube::fail(std::move(written.error()), "bringing the certificates");
}

asio::awaitable<kube::Result<void>> PodCertificates::clear(const kube::Object& local, std::string remote_namespace) {
  const std::string ns(local.ns());
  const auto secret = find(local.key(), std::move(remote_namespace));
  if (!secret || secret->annotation(api::annotations::token_pod_uid) == local.uid()) co_return kube::Result<void>();
  auto removed = co_await remove_secret(ns, *secret);
  // A provider that refuses keeps no pod from running.
  if (!removed && !removed.error().is_permanent()) co_return std::unexpected(std::move(removed.error()));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodCertificates::remove_secret(std::string ns, kube::Object secret) {
  if (secret.is_deleting()) co_return kube::Result<void>();
  const std::string uid(secret.uid());
  KUBE_CO_TRYV(
      co_await kube::remove_object(node_.provider.api, kube::resources::secrets, secret.key(),
                                   {.options = {.uid = uid}, .phase = "deleting the Secret with certificates"}));
  if (kube::Informer* cache = tokens_.cache_of(ns)) cache->observe_gone(secret.key(), uid);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodCertificates::remove(kube::ObjectKey local, std::string remote_namespace) {
  const auto secret = find(local, std::move(remote_namespace));
  // Those of another virtual node are left to it.
  if (!secret || secret->label(api::labels::node_name) != node_.forging.node_name) co_return kube::Result<void>();
  co_return co_await remove_secret(local.ns, *secret);
}

}  // namespace liqo::controllers
