// Who calls an extension API server: the front proxy of the API server, and the user in the headers that it sets.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kube/k8s/admission.hpp"

namespace liqo::core {

/// The ConfigMap in which an API server says which CAs sign the certificates of its clients and of its front proxy.
inline const kube::ObjectKey authentication_map{"kube-system", "extension-apiserver-authentication"};

/// The proxy whose statements about users are trusted, as that ConfigMap describes it.
struct FrontProxy {
  std::string ca_pem;                                    ///< signs its certificate; "" = there is no such proxy
  std::vector<std::string> names;                        ///< common names that it may have; none = any
  std::vector<std::string> user_headers, group_headers;  ///< in lower case
  bool operator==(const FrontProxy&) const = default;
};

/// Reads the ConfigMap. A value that is no list of texts reads as an empty list; if that is the list of names, no proxy
/// is accepted.
FrontProxy read_front_proxy(const kube::Object& map);

/// Whether a certificate of that CA is the proxy's.
bool is_front_proxy(const FrontProxy& proxy, std::string_view common_name);

/// The user that the proxy names in these headers (names in lower case); without a name if it names none.
kube::admission::User proxied_user(const FrontProxy& proxy,
                                   std::span<const std::pair<std::string, std::string>> headers);

}  // namespace liqo::core
