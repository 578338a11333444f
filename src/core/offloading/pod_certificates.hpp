// The certificates of pods (`podCertificate` in projected volumes, KEP-4317) that signers of home make for pods at a
// provider: which a pod mounts, the request for one, and the Secret that brings them. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The most certificates that one pod gets, and the most bytes of the chain of each: one Secret holds all of them.
inline constexpr std::size_t max_certificates = 16, max_chain_bytes = 24 * 1024;

/// One projected `podCertificate` of a pod.
struct CertificateSource {
  std::string key;  ///< what its keys in the Secret begin with
  std::string signer, key_type;
  std::optional<std::int64_t> max_seconds;  ///< of the certificate's life
  kube::json::object user_annotations;      ///< what the pod tells the signer
  bool in_one_file = false;                 ///< key and chain in one file
};
using CertificateSources = std::vector<CertificateSource>;

/// The certificates that the pod mounts, in the order of its volumes.
CertificateSources certificate_sources(const kube::Object& local_pod);
/// Whether the pod is to get certificates of home, if home makes any. Not if its annotation says `disabled`: nothing of
/// home is to be at the provider then. Nor if one of them is for the API server at home and pods get no tokens for
/// that.
bool wants_certificates(const kube::Object& local_pod, const ForgingContext& ctx);
/// Whether a pod that is sent now gets them: see `ForgingContext::requests_certificates`.
bool gets_certificates(const kube::Object& local_pod, const ForgingContext& ctx);
/// Why the pod asks for more than are brought to it, a clause; "" = it does not.
std::string excess_of_certificates(const kube::Object& local_pod, const ForgingContext& ctx);
/// Makes the projected volumes of a pod spec that is to be sent read the Secret, if the pod gets certificates of home.
void adapt_certificates(kube::json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx);

/// The Secret in the twin: `<pod>-certificates`, shortened and with a digest if that is too long.
std::string pod_certificates_name(std::string_view pod);
/// The pod of a Secret with that name; "" if it is no such name. `annotated` is the pod that its annotation names.
std::string_view certificate_secret_pod(std::string_view secret, std::string_view annotated);
/// Whether the ShadowPod mounts that Secret.
bool mounts_certificates(const kube::Object& shadow);

/// Who asks for a certificate, by the UIDs that home knows.
struct CertificateHolder {
  std::string account_uid, node_uid;
};
/// The PodCertificateRequest for a pod, as the kubelet of its node would make it. It has a name that follows from
/// `request`, a PKCS#10 request in DER, and goes with the pod.
kube::Object forge_certificate_request(const kube::Object& local_pod, const CertificateSource& source,
                                       const CertificateHolder& holder, std::string_view request);

/// A certificate as it was issued, with its key.
struct PodCertificate {
  std::string key, chain;  ///< PEM
  kube::WallTime renew_at{}, expires{};
};
using PodCertificateSet = std::map<std::string, PodCertificate, std::less<>>;  ///< by the key of the source

/// What has become of a request.
struct CertificateAnswer {
  std::optional<PodCertificate> issued;  ///< without key
  std::string refusal;                   ///< the signer's words; "" = none
};
CertificateAnswer read_certificate_answer(const kube::Object& request);

/// The Secret with the certificates of a pod, for a create or server-side apply.
kube::Object forge_certificate_secret(const kube::Object& local_pod, std::string_view remote_namespace,
                                      const PodCertificateSet& issued, const ForgingContext& ctx);
/// Whether an object of that name is a Secret with certificates of a pod of this pair of clusters.
bool is_certificate_secret(const kube::Object& secret, const ClusterPair& clusters);
/// Reads the certificates that a Secret brings, after a restart; those of other sources are left out.
PodCertificateSet read_certificate_secret(const kube::Object& secret, const CertificateSources& sources);
/// Whether the Secret lacks part of what it should have.
bool lacks_certificates(const kube::Object& secret, const kube::Object& wanted);

}  // namespace liqo::core
