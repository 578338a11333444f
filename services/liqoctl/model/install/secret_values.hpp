// Values of an installation that are credentials, which are never shown. Pure.
// Tested by test/unit/liqoctl/model/install/secret_values_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// The text in place of a credential.
inline constexpr std::string_view not_shown = "(set, not shown)";

/// Whether the name is that of a token, a password, a key or a certificate. The name of a Secret object is none.
bool names_secret(std::string_view name);

/// Whether a pair such as {"name": "API_TOKEN", "value": "x"}, e.g. of an environment variable, has such a name.
bool has_secret_value(const kube::json::object& pair);

/// The text, with not_shown in place of keys and certificates in PEM, also in base64. An argument such as "--token=x"
/// loses its value if the flag has such a name.
std::string without_secret(std::string_view text);

/// The tree, with not_shown in place of each credential that is set. In lists of arguments, the word after "--token" is
/// one. So is the value in a pair of a name and a value.
kube::json::object without_secrets(kube::json::object values);

/// The path of a value that equals the text shown in place of a credential, and would overwrite it; "" = there is none.
std::string find_not_shown(const kube::json::object& values);

}  // namespace liqoctl::model
