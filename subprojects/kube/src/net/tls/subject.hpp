// Names out of an OpenSSL certificate, for the handshakes of this room.
#pragma once

#include <openssl/x509.h>

#include "kube/net/tls/x509.hpp"

namespace kube::net {

CertificateSubject subject_of(const X509* certificate);

}  // namespace kube::net
