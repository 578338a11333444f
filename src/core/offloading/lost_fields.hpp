// Which fields of a pod an API server has not stored. Pure, and the same on both sides.
// Tested by test/unit/core/offloading/lost_fields_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"

namespace liqo::core {

/// Whether a value of that field of a pod says no more than an absent one: null, "" and what is empty. Of false and 0
/// that is so only in fields that API servers leave out then: `hostUsers: false` and `runAsUser: 0` ask for something.
/// It is also so of what probes do by default (`protocol: HTTP1`, which an API server of 1.37 may have written itself,
/// and `mode: Plaintext`).
bool asks_for_nothing(std::string_view field, const kube::json::value& value);

/// The paths of the fields that were sent and are not in what the server answered, such as
/// "containers[0].livenessProbe.grpc.mode", at most `max_left_out` of them (left_out.hpp). A server drops what its
/// version does not know or has switched off, and answers that all went well. A value that asks for nothing is not
/// missed. Entries of lists are compared with those of the same name or mount path that are at most 64 places away.
/// Those without a name are compared by their place, if both lists are equally long, because webhooks add entries.
/// Several of one name are compared by their place only.
std::vector<std::string> lost_fields(const kube::json::object& sent, const kube::json::object& stored);

}  // namespace liqo::core
