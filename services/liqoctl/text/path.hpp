// Picks one value out of a document by a dotted path, as `--get` does.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::text {

/// The value at a path such as "authentication.resourceslices". The parts are names of fields in any case, indices of
/// lists, and names of list entries that have a field `name`. A leading dot is allowed. So are `[` and `]` around a
/// part, for names with dots. Errors: Errc::missing with the names that the path could have continued with.
kube::Result<kube::json::value> pick(const kube::json::value& root, std::string_view path);

}  // namespace liqoctl::text
