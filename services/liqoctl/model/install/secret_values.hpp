// Values of an installation that are credentials, which nobody is shown. Pure.
// Tested by test/unit/liqoctl/model/install/secret_values_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// What is shown in place of a credential.
inline constexpr std::string_view not_shown = "(set, not shown)";

/// Whether what has this name is a token, a password, a key or a certificate. The name of a Secret is none.
bool names_secret(std::string_view name);

/// Whether the name of a pair such as {"name": "API_TOKEN", "value": "x"}, of an environment variable, is such a name.
bool has_secret_value(const kube::json::object& pair);

/// The text as it may be shown: not_shown for keys and certificates in PEM, also in base64, and for what an argument
/// such as "--token=x" gives to a flag of such a name.
std::string without_secret(std::string_view text);

/// The tree with not_shown for each credential that is set. Lists of arguments are read as such: what comes after
/// "--token" is one. So is the value of a pair of a name and a value.
kube::json::object without_secrets(kube::json::object values);

/// The path of a value that is what was shown in place of a credential, by which one would be lost; "" = there is none.
std::string find_not_shown(const kube::json::object& values);

}  // namespace liqoctl::model
