// Objects on standard output, as `-o` has them.
#pragma once

#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// Prints an object as `-o` says, YAML by default.
void print_object(Session& session, const Object& object);
/// Several, as documents of one stream (YAML) or a List (JSON).
void print_objects(Session& session, const std::vector<Object>& objects);

}  // namespace liqoctl
