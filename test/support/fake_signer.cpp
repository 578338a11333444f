#include "fake_signer.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <stdexcept>

#include "kube/base/base64.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::testing {

namespace json = kube::json;

namespace {

constexpr kube::Resource requests = kube::resources::certificate_signing_requests;

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using Request = std::unique_ptr<X509_REQ, Freeing<X509_REQ_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;

bool is_approved(const json::object& request) {
  for (const json::value& condition : kube::array_at(request, {"status", "conditions"}))
    if (kube::string_at(condition, {"type"}) == "Approved") return true;
  return false;
}

bool is_signed(const json::object& request) { return !kube::string_at(request, {"status", "certificate"}).empty(); }

void require(bool done) {
  if (!done) throw std::runtime_error("the fake signer cannot sign");
}

}  // namespace

CertificateIssuer::CertificateIssuer(kube::Random& random) {
  unsigned char bytes[32] = {};
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.next());
  key_.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes, sizeof bytes), EVP_PKEY_free);
  require(key_ != nullptr);
}

std::string CertificateIssuer::issue(std::string_view request_pem, kube::WallTime begin, kube::WallTime end,
                                     std::uint64_t serial) const {
  const auto seconds = [](kube::WallTime at) {
    return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  };
  const Bio in(BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())));
  const Request request(PEM_read_bio_X509_REQ(in.get(), nullptr, nullptr, nullptr));
  require(request != nullptr);
  const Key public_key(X509_REQ_get_pubkey(request.get()));
  const Certificate made(X509_new());
  require(X509_set_version(made.get(), X509_VERSION_3) == 1 &&
          ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial) == 1 &&
          ASN1_TIME_set(X509_getm_notBefore(made.get()), seconds(begin)) != nullptr &&
          ASN1_TIME_set(X509_getm_notAfter(made.get()), seconds(end)) != nullptr &&
          X509_set_subject_name(made.get(), X509_REQ_get_subject_name(request.get())) == 1 &&
          X509_set_pubkey(made.get(), public_key.get()) == 1 && X509_sign(made.get(), key_.get(), nullptr) > 0);
  const Bio out(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(out.get(), made.get()) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

std::string issue_certificate(std::string_view request_pem, kube::WallTime begin, kube::WallTime end) {
  kube::Random random(1);
  return CertificateIssuer(random).issue(request_pem, begin, end, 1);
}

FakeSigner::FakeSigner(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server,
                       FakeSignerOptions options)
    : simulator_(simulator), server_(server), options_(options), random_(options.seed), issuer_(random_) {
  server_.store().on_change([this](const kube::testing::FakeChange& change) {
    if (change.kind->plural != requests.plural || change.type == kube::testing::ChangeType::deleted) return;
    if (!is_approved(*change.after) || is_signed(*change.after) || random_.chance(negligence)) return;
    const kube::Duration pause(random_.between(options_.min_delay.count(), options_.max_delay.count()));
    simulator_.clock().call_in(pause, [this, name = change.key.name] { sign(name); });
  });
}

void FakeSigner::sign(const std::string& name) {
  const auto request = server_.get(requests, {"", name});
  if (silent || !request || is_signed(*request)) return;
  const auto pem = kube::decode_base64(kube::string_at(*request, {"spec", "request"}));
  require(pem.has_value());
  ++signed_requests;
  const std::chrono::seconds asked(kube::int_at(*request, {"spec", "expirationSeconds"}, options_.validity.count()));
  const kube::WallTime now = simulator_.clock().wall() - clock_behind;
  const std::string certificate = issuer_.issue(instead.empty() ? *pem : instead, now - options_.backdating,
                                                now + std::min(asked, options_.validity), server_.store().version());
  (void)server_.update(
      {requests, {"", name}, "status"},
      [&](json::object& next) {
        kube::ensure_object(next, "status")["certificate"] = kube::encode_base64(certificate);
      },
      actor);
}

}  // namespace liqo::testing
