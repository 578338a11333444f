// Foreign text as a kubeconfig, from a user's file and from a Secret. From a Secret nothing may be left that names a
// file or a program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/wire/kubeconfig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kube::wire;
  if (size > 16384) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto secret = parse_kubeconfig(text, {});
  if (secret && (!secret->ca_file.empty() || !secret->client_certificate_file.empty() ||
                 !secret->client_key_file.empty() || !secret->token_file.empty() || secret->exec))
    std::abort();
  const auto file = parse_kubeconfig(text, {.origin = KubeconfigOrigin::file, .directory = "/dir", .context = ""});
  if (secret && !file) std::abort();
  if (!file && file.error().text().empty()) std::abort();
  if (file && (file->server.host.empty() || file->server.port == 0)) std::abort();
  return 0;
}
