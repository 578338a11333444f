#include "kube/net/tls/server_identity.hpp"

#include "support/pki.hpp"

using namespace kube;
using namespace kube::net;

TEST_CASE("a server's certificate and client CA are replaced one by one, and what cannot be used changes nothing") {
  const auto one = test::self_signed("one"), two = test::self_signed("two"), callers = test::self_signed("callers");
  const KeyAndCertificate mixed{.key_pem = one.key_pem, .certificate_pem = two.certificate_pem};
  int applied = 0;
  ServerIdentity identity([&applied](TlsContext) { ++applied; });

  // Before the server there is nothing that could be applied; what it begins with is looked at then.
  CHECK(identity.use_client_ca("nonsense").value() == false);
  CHECK(identity.begin(one).error().code() == Errc::tls);
  CHECK(identity.use_client_ca(callers.certificate_pem).value() == false);
  CHECK(identity.begin(mixed).error().code() == Errc::tls);
  CHECK(identity.begin(one).has_value());
  CHECK(applied == 0);

  CHECK(identity.use_certificate(mixed).error().code() == Errc::tls);
  CHECK(identity.use_client_ca("nonsense").error().code() == Errc::tls);
  CHECK(applied == 0);
  CHECK(identity.use_client_ca(callers.certificate_pem).value() == false);
  CHECK(applied == 0);
  CHECK(identity.use_certificate(two).has_value());
  CHECK(applied == 1);
  CHECK(identity.use_client_ca("").value() == true);
  CHECK(applied == 2);
  CHECK(identity.use_client_ca(callers.certificate_pem).value() == true);
  CHECK(applied == 3);
}
