// The certificate of a slice over a fake API server.
#include <doctest/doctest.h>

#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;

}  // namespace

TEST_CASE("a signing request for more than the slice is refused, a signer that is silent denies nothing") {
  SliceProvider milan;
  milan.signer.silent = true;
  milan.add_slice("{}");
  milan.pass(1min);
  CHECK(milan.condition("Authentication") == "");
  CHECK(milan.condition() == accepted);
  milan.signer.silent = false;
  CHECK(milan.reaches([&] { return !milan.condition("Authentication").empty(); }, 5min));
  CHECK(milan.condition("Authentication") == "Accepted ResourceSliceAuthenticationAccepted");
  milan.change(kinds::resource_slices, milan.slice_key, "", [&](json::object& next) {
    kube::ensure_object(next, "spec")["csr"] =
        kube::encode_base64(*core::make_signing_request(milan.rome, core::slice_name("other", "rome")));
  });
  CHECK(milan.reaches([&] { return milan.condition("Authentication") == "Denied ResourceSliceAuthenticationDenied"; }));
  CHECK(milan.reaches([&] { return !milan.events("InvalidCSR").empty(); }));
}

}  // namespace liqo::testing
