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
/// How long a pod waits at home for its certificates before it waits in the provider.
constexpr kube::Duration first_patience = 5s;
/// A signer that has not answered for so long, and lack of rights that lasts so long, are reported.
constexpr kube::Duration signer_patience = 1min, rights_patience = 20s;
/// The pause before it is asked again whether there is a right, until the lack of it is reported.
constexpr kube::Duration rights_pause = 2s;
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

std::string not_ours(const kube::ObjectKey& secret, const std::string& cluster) {
  return "Secret " + secret.text() + " of cluster " + cluster + " is not ours: the pod gets no certificates";
}

}  // namespace

PodCertificates::PodCertificates(OffloadingNode& node, PodTokens& tokens)
    : node_(node), tokens_(tokens), keys_(node.context.entropy) {
  node_.forging.requests_certificates = &is_served_;
}

void PodCertificates::tell(const kube::Object& local, std::string words) {
  Memory& memory = memory_of(local);
  if (std::exchange(memory.told, words) != words) node_.warn(local, api::reasons::no_certificate, std::move(words));
}

asio::awaitable<kube::Result<std::optional<bool>>> PodCertificates::is_served(const kube::Object& local) {
  const kube::TimePoint now = node_.context.clock.now();
  if (is_served_) co_return true;
  if (refused_at_ && now - *refused_at_ < refused_pause) co_return false;
  const std::string ns(local.ns());
  if (const auto forbidden = forbidden_.find(ns); forbidden != forbidden_.end()) {
    const bool lasts = now - forbidden->second.since >= rights_patience;
    if (lasts) tell(local, without_right(ns));
    if (now - forbidden->second.asked_at < (lasts ? signer_patience : rights_pause)) co_return std::nullopt;
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
  forbidden_.try_emplace(ns, Forbidden{.since = now}).first->second.asked_at = now;
  co_return std::nullopt;
}

asio::awaitable<PodCertificates::NextLook> PodCertificates::prepare(const kube::Object& local,
                                                                    std::string remote_namespace) {
  if (!core::wants_certificates(local, node_.forging)) co_return std::nullopt;
  KUBE_CO_TRY(served, co_await is_served(local));
  if (!served) co_return std::optional<kube::Duration>(unknown_pause);
  if (!*served) {
    tell(local, "the pod gets no certificate of a signer of cluster " + node_.forging.clusters.local +
                    ", which takes no requests for those of pods (certificates.k8s.io/v1)");
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
  if (!core::mounts_certificates(shadow) || core::certificate_sources(local).empty()) co_return std::nullopt;
  std::string remote_namespace(shadow.ns());
  co_return co_await bring(local, std::move(remote_namespace));
}

asio::awaitable<PodCertificates::NextLook> PodCertificates::bring(const kube::Object& local,
                                                                  std::string remote_namespace) {
  const std::string ns(local.ns());
  tokens_.watch(ns);
  if (!tokens_.has_synced(ns)) co_return std::optional<kube::Duration>(unknown_pause);
  const core::CertificateSources sources = core::certificate_sources(local);
  const kube::ObjectKey key{remote_namespace, core::pod_certificates_name(local.name())};
  if (const auto secret = tokens_.find(ns, key)) {
    if (!core::is_certificate_secret(*secret, node_.forging.clusters)) {
      tell(local, not_ours(key, node_.cluster()));
      co_return std::optional<kube::Duration>(foreign_pause);
    }
    if (secret->annotation(api::annotations::token_pod_uid) != local.uid()) {
      KUBE_CO_TRYV(co_await remove_secret(ns, *secret));
      co_return std::optional<kube::Duration>(busy_pause);
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
    KUBE_CO_TRYV(co_await write(local, std::move(remote_namespace)));
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
    if (!key) co_return busy_pause;
    if (!*key) {
      request.refusal = key->error().text();
      tell(local, of_signer(source) + " cannot be requested: " + request.refusal);
      co_return never;
    }
    request.made = std::move(**key);
  }
  kube::Api& home = node_.context.home.api();
  KUBE_CO_TRY(account,
              co_await kube::find_live(home, kube::resources::service_accounts,
                                       {std::string(local.ns()), core::service_account_of(local)}),
              "reading the service account of a certificate");
  KUBE_CO_TRY(machine, co_await kube::find_live(home, kube::resources::nodes, {"", node_.forging.node_name}),
              "reading the node of a certificate");
  if (!account)
    tell(local, of_signer(source) + " cannot be requested: there is no service account " +
                    core::service_account_of(local) + ": create it");
  if (!account || !machine) co_return failed_pause;
  if (const kube::Duration wait = take_turn(); wait > 0s) co_return wait;
  Request& request = memory_of(local).requests[source.key];
  if (!request.made) co_return busy_pause;
  const kube::Object asked = core::forge_certificate_request(
      local, source, {.account_uid = std::string(account->uid()), .node_uid = std::string(machine->uid())},
      request.made->request);
  // Known before it is sent: the answer may be lost.
  const kube::TimePoint now = node_.context.clock.now();
  request.name = asked.name();
  request.key = std::move(request.made->pem);
  request.made.reset();
  request.asked_at = now;
  request.next = now + request_pause;
  auto created = co_await home.create(api::kinds::pod_certificate_requests, asked, {});
  if (!created && !created.error().is_already_exists()) co_return not_asked(local, source, std::move(created.error()));
  co_return look_pause(0s);
}

kube::Result<kube::Duration> PodCertificates::not_asked(const kube::Object& local,
                                                        const core::CertificateSource& source, kube::Failure failure) {
  // It may be stored all the same: then it is found.
  if (!failure.is_permanent()) return look_pause(0s);
  Request& request = memory_of(local).requests[source.key];
  request.name.clear();
  request.key.clear();
  const std::string words = kube::one_line(core::refusal_words(failure), core::max_refusal);
  // Rights may come, and so may the API.
  if (!failure.is_forbidden() && !failure.is_not_found()) request.refusal = words;
  tell(local, of_signer(source) + " cannot be requested: " + words);
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
    tell(local, of_signer(source) + " was refused: " + answer.refusal);
    co_return never;
  }
  if (!answer.issued) {
    if (age >= signer_patience)
      tell(local, of_signer(source) + " has been asked for in cluster " + node_.forging.clusters.local +
                      ", and the signer has not answered for a minute");
    co_return look_pause(age);
  }
  answer.issued->key = std::exchange(request.key, {});
  request.name.clear();
  memory.issued.insert_or_assign(source.key, std::move(*answer.issued));
  memory.told.clear();
  co_return busy_pause;
}

asio::awaitable<kube::Result<void>> PodCertificates::write(const kube::Object& local, std::string remote_namespace) {
  const std::string ns(local.ns());
  kube::Object wanted = core::forge_certificate_secret(local, remote_namespace, memory_of(local).issued, node_.forging);
  const auto known = tokens_.find(ns, wanted.key());
  if (known && (known->is_deleting() || !core::lacks_certificates(*known, wanted))) co_return kube::Result<void>();
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
    if (kube::Informer* cache = tokens_.cache_of(ns)) cache->observe(std::move(*written));
    co_return kube::Result<void>();
  }
  if (written.error().is_already_exists()) {
    KUBE_CO_TRY(live, co_await kube::find_live(provider, kube::resources::secrets, wanted.key()),
                "looking for the Secret with certificates");
    const bool is_ours = live && core::is_certificate_secret(*live, node_.forging.clusters);
    if (kube::Informer* cache = tokens_.cache_of(ns); is_ours && cache) cache->observe(std::move(*live));
    if (live && !is_ours) tell(local, not_ours(wanted.key(), node_.cluster()));
    co_return kube::Result<void>();
  }
  if (written.error().is_permanent())
    tell(local, "cluster " + node_.cluster() + " refuses Secret " + wanted.key().text() +
                    " with the certificates of this pod: " +
                    kube::one_line(core::refusal_words(written.error()), core::max_refusal));
  co_return kube::fail(std::move(written.error()), "bringing the certificates");
}

asio::awaitable<kube::Result<void>> PodCertificates::remove_secret(const std::string& ns, kube::Object secret) {
  if (secret.is_deleting()) co_return kube::Result<void>();
  const std::string local(ns), uid(secret.uid());
  KUBE_CO_TRYV(
      co_await kube::remove_object(node_.provider.api, kube::resources::secrets, secret.key(),
                                   {.options = {.uid = uid}, .phase = "deleting the Secret with certificates"}));
  if (kube::Informer* cache = tokens_.cache_of(local)) cache->observe_gone(secret.key(), uid);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> PodCertificates::remove(kube::ObjectKey local, std::string remote_namespace) {
  const auto secret = tokens_.find(local.ns, {std::move(remote_namespace), core::pod_certificates_name(local.name)});
  // Those of another virtual node are left to it.
  if (!secret || !core::is_certificate_secret(*secret, node_.forging.clusters) ||
      secret->label(api::labels::node_name) != node_.forging.node_name)
    co_return kube::Result<void>();
  co_return co_await remove_secret(local.ns, *secret);
}

}  // namespace liqo::controllers
