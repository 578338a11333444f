#include "core/quota/quota_user.hpp"

namespace liqo::core {

std::string escape_user(std::string_view user) {
  std::string escaped(user);
  for (char& c : escaped) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!kept) c = '-';
  }
  return escaped;
}

}  // namespace liqo::core
