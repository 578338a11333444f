#include "webhook/certificates.hpp"

#include "core/common/secret_bytes.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/labels.hpp"
#include "telemetry/serving_certificate.hpp"

namespace liqo::webhook {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

constexpr kube::Resource secrets = kube::resources::secrets;
constexpr kube::Duration retry = 1s;
// The monotonic clock stands still while a machine is suspended, but certificates age: long sleeps are cut into pieces.
constexpr kube::Duration max_sleep = 1h;

struct Entry {
  std::string_view key;
  std::string CertificateState::* member;
};
constexpr Entry entries[] = {{"ca", &CertificateState::authority},
                             {"ca.key", &CertificateState::authority_key},
                             {"tls.crt", &CertificateState::certificate},
                             {"tls.key", &CertificateState::key}};

}  // namespace

CertificateState read_certificate_secret(const kube::Object& secret) {
  CertificateState state;
  for (const Entry& entry : entries) state.*entry.member = core::secret_bytes(secret, entry.key);
  return state;
}

kube::Object write_certificate_secret(kube::Object secret, const CertificateState& state) {
  json::object& data = kube::ensure_object(secret.tree(), "data");
  for (const Entry& entry : entries) data[entry.key] = kube::encode_base64(state.*entry.member);
  secret.set_label(api::labels::webhook, "true");
  return secret;
}

kube::Result<kube::net::KeyAndCertificate> temporary_certificate(std::string_view name, kube::WallTime now) {
  kube::net::CertificateSubject subject;
  subject.common_name = name;
  return kube::net::make_self_signed(subject, now, 24h);
}

kube::Result<void> show_certificate(kube::net::ServerIdentity& identity, const CertificateState& state,
                                    kube::Metrics& metrics, const std::string& server) {
  auto used = identity.use_certificate({.key_pem = state.key, .certificate_pem = state.certificate});
  if (!used) return used;
  if (const auto info = kube::net::read_certificate(state.certificate))
    show_serving_certificate(metrics, server, info->not_before, info->not_after);
  return used;
}

Certificates::Certificates(const asio::any_io_executor& executor, kube::Api& replica_api, kube::InformerSet& home,
                           kube::ObjectKey secret, std::string part, CertificateSettings settings, Use use)
    : replica_api_(replica_api),
      key_(std::move(secret)),
      settings_(std::move(settings)),
      use_(std::move(use)),
      log_(std::move(part)),
      changed_(executor),
      secrets_(home.acquire(
          {.resource = secrets, .ns = key_.ns, .selection = {.field_selector = kube::name_is(key_.name)}})) {
  secrets_.subscribe([this](const kube::ObjectKey&) { changed_.set(); });
}

asio::awaitable<void> Certificates::run() {
  co_await secrets_->wait_synced();
  while (true) {
    changed_.reset();
    auto next = co_await step();
    kube::Duration pause = retry;
    if (next) {
      const auto left = std::max(*next - replica_api_.clock().wall(), kube::WallTime::duration::zero());
      pause = std::min<kube::Duration>(left + 10ms, max_sleep);
    } else if (const auto held_back = failures_.note(next.error().text(), replica_api_.clock().now())) {
      log_.warn(has_certificate() ? "the certificate for API servers cannot be renewed, and stays in use meanwhile"
                                  : "no certificate for API servers yet",
                {{"error", next.error()}, {"others_since", *held_back}});
    }
    co_await changed_.wait_for(replica_api_.clock(), pause);
  }
}

asio::awaitable<kube::Result<kube::WallTime>> Certificates::step() {
  auto secret = secrets_->find(key_);
  CertificateState state = secret ? read_certificate_secret(*secret) : CertificateState();
  KUBE_CO_TRY(plan, plan_certificates(state, settings_, replica_api_.clock().wall()));
  if (plan.usable && used_ != state) {
    used_ = state;
    use_(state);
  }
  if (!plan.change) co_return plan.look_again;
  KUBE_CO_TRYV(co_await store(std::move(secret), *plan.change));
  // The Secret may now hold another replica's certificates, which the next step judges like any.
  co_return replica_api_.clock().wall();
}

asio::awaitable<kube::Result<void>> Certificates::store(std::optional<kube::Object> secret,
                                                        const CertificateState& state) {
  const bool is_new = !secret;
  kube::Object wanted =
      write_certificate_secret(is_new ? kube::Object::make(secrets, key_) : std::move(*secret), state);
  if (is_new) wanted.tree()["type"] = "Opaque";
  auto stored = is_new ? co_await replica_api_.create(secrets, wanted) : co_await replica_api_.replace(secrets, wanted);
  if (stored) {
    log_.info("stored new certificates for API servers", {{"secret", key_.text()}});
    secrets_->observe(std::move(*stored));
    co_return kube::Result<void>();
  }
  if (!stored.error().is_already_exists() && !stored.error().is_conflict())
    co_return kube::fail(std::move(stored.error()), "storing the certificates");
  // Another replica was faster, and its certificates count.
  KUBE_CO_TRY(live, co_await replica_api_.get(secrets, key_));
  secrets_->observe(std::move(live));
  co_return kube::Result<void>();
}

}  // namespace liqo::webhook
