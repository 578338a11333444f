// Prints objects on standard output in the format of `-o`.
#pragma once

#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// Prints an object in the format of `-o`, YAML by default.
void print_object(Session& session, const Object& object);
/// Prints several objects, as documents of one stream (YAML) or as a List (JSON).
void print_objects(Session& session, const std::vector<Object>& objects);

}  // namespace liqoctl
