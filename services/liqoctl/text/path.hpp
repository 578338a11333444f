// Picking one value out of a document by a dotted path, as `--get` does.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqoctl::text {

/// The value at a path such as "authentication.resourceslices": names of fields in any case, numbers for places in
/// lists, names for entries of lists whose entries have a field `name`. A leading dot is allowed, and `[` and `]`
/// around a part, so that names with dots can be said. Errors: Errc::missing with the names that would have been there.
kube::Result<kube::json::value> pick(const kube::json::value& root, std::string_view path);

}  // namespace liqoctl::text
