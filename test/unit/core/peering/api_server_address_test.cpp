// Where consumers reach the API server of a provider.
#include "core/peering/api_server_address.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("a host gets a scheme, and what is no https URL is refused") {
  for (const auto& [address, url] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"milan.example", "https://milan.example"},
           {"10.0.0.1:6443", "https://10.0.0.1:6443"},
           {"[fd00::1]:6443", "https://[fd00::1]:6443"},
           {"https://milan.example:6443/k8s", "https://milan.example:6443/k8s"}}) {
    CAPTURE(address);
    CHECK(api_server_url(address).value_or("") == url);
  }
  for (const char* wrong : {"", "https://", "http://milan.example", "milan.example ", "milan\nrome", "a\x7f"}) {
    CAPTURE(wrong);
    const auto url = api_server_url(wrong);
    REQUIRE_FALSE(url);
    CHECK(url.error().code() == kube::Errc::invalid_input);
  }
}

TEST_CASE("the address of the control plane is the best of any node, and not the first of the first") {
  const auto node = [](std::string_view addresses) {
    return parse(R"({"metadata": {"name": "n1"}, "status": {"addresses": )" + std::string(addresses) + "}}");
  };
  const kube::Object inner =
      node(R"([{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "fd00::1"}])");
  const kube::Object outer =
      node(R"([{"type": "ExternalDNS", "address": ""}, {"type": "ExternalIP", "address": "192.0.2.1"}])");
  CHECK(control_plane_address(std::vector{inner, outer}) == "192.0.2.1");
  CHECK(control_plane_address(std::vector{inner}) == "[fd00::1]");
  CHECK_FALSE(control_plane_address(std::vector{node("[]"), node("7")}));
}

}  // namespace liqo::core
