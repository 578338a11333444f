// Small things that several commands need.
#pragma once

#include <array>

#include "command.hpp"
#include "model/resources.hpp"
#include "session.hpp"

namespace liqoctl {

/// On namespaces that this program made: unpeer may delete them.
inline constexpr std::string_view made_by = "liqo.io/made-by";
inline constexpr std::string_view made_by_liqoctl = "liqoctl";

/// Prints an object as `-o` says, YAML by default.
void print_object(Session& session, const Object& object);
/// Several, as documents of one stream (YAML) or a List (JSON).
void print_objects(Session& session, const std::vector<Object>& objects);

/// The object of that name, wherever it is: in `-n` where that is given, else in any namespace, and where `peer` is not
/// empty only with its label. Errors: Errc::missing, and Errc::invalid_input where there are several.
asio::awaitable<Result<kube::ObjectKey>> find_one(Cluster& cluster, kube::Resource resource, std::string name,
                                                  std::string peer = {});

/// `--cpu --memory --pods --resource`, under a heading; `defaults` are said in the help, in the order of the first
/// three.
void add_resource_flags(Command app, model::ResourceFlags& flags, std::string_view heading = "Resources",
                        std::array<std::string_view, 3> defaults = {});

/// The argument with the names of objects that are to be made or deleted: a name that no object can have is a mistake.
Option check_names(Option option, std::size_t longest = 253);

}  // namespace liqoctl
