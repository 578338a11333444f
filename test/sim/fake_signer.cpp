#include "fake_signer.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <chrono>
#include <stdexcept>

#include "kube/base/base64.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
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
  if (!done) throw std::runtime_error("the simulated signer cannot sign");
}

}  // namespace

FakeSigner::FakeSigner(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server, std::uint64_t seed)
    : simulator_(simulator), server_(server), random_(seed) {
  unsigned char bytes[32] = {};
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_.next());
  key_.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes, sizeof bytes), EVP_PKEY_free);
  require(key_ != nullptr);
  server_.store().on_change([this](const kube::testing::FakeChange& change) {
    if (change.kind->plural != requests.plural || change.type == kube::testing::ChangeType::deleted) return;
    if (!is_approved(*change.after) || is_signed(*change.after) || random_.chance(negligence_)) return;
    const kube::Duration pause(random_.between(kube::Duration(5ms).count(), kube::Duration(2s).count()));
    simulator_.clock().call_in(pause, [this, name = change.key.name] { sign(name); });
  });
}

void FakeSigner::sign(const std::string& name) {
  const auto request = server_.get(requests, {"", name});
  if (!request || is_signed(*request)) return;
  const auto pem = kube::decode_base64(kube::string_at(*request, {"spec", "request"}));
  require(pem.has_value());
  const json::value* seconds = kube::find(*request, {"spec", "expirationSeconds"});
  const std::string certificate = certificate_for(*pem, seconds ? seconds->to_number<std::int64_t>() : 3600);
  (void)server_.update(
      requests, {"", name}, "status",
      [&](json::object& next) {
        kube::ensure_object(next, "status")["certificate"] = kube::encode_base64(certificate);
      },
      actor);
}

std::string FakeSigner::certificate_for(const std::string& csr_pem, std::int64_t seconds) const {
  const Bio in(BIO_new_mem_buf(csr_pem.data(), static_cast<int>(csr_pem.size())));
  const Request request(PEM_read_bio_X509_REQ(in.get(), nullptr, nullptr, nullptr));
  require(request != nullptr);
  const Key public_key(X509_REQ_get_pubkey(request.get()));
  const Certificate made(X509_new());
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(simulator_.clock().wall().time_since_epoch());
  // As the real one does: valid from five minutes ago on.
  require(X509_set_version(made.get(), X509_VERSION_3) == 1 &&
          ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), server_.store().version()) == 1 &&
          ASN1_TIME_set(X509_getm_notBefore(made.get()), now.count() - 300) != nullptr &&
          ASN1_TIME_set(X509_getm_notAfter(made.get()), now.count() + seconds) != nullptr &&
          X509_set_subject_name(made.get(), X509_REQ_get_subject_name(request.get())) == 1 &&
          X509_set_pubkey(made.get(), public_key.get()) == 1 && X509_sign(made.get(), key_.get(), nullptr) > 0);
  const Bio out(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(out.get(), made.get()) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace liqo::sim
