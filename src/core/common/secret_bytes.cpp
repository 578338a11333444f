#include "core/common/secret_bytes.hpp"

#include "kube/base/base64.hpp"

namespace liqo::core {

std::string secret_bytes(const kube::Object& secret, std::string_view key) {
  return kube::decode_base64(kube::string_at(secret.tree(), {"data", key})).value_or(std::string());
}

}  // namespace liqo::core
