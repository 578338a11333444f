// Flags and arguments of several commands whose values are checked: amounts of resources, and names.
#pragma once

#include <array>
#include <string_view>

#include "cli/command.hpp"
#include "model/resources.hpp"

namespace liqoctl {

/// `--cpu --memory --pods --resource`, under a heading. The help shows `defaults`, in the order of the first three.
void add_resource_flags(cli::Command app, model::ResourceFlags& flags, std::string_view heading = "Resources",
                        std::array<std::string_view, 3> defaults = {});

/// The argument with the names of objects to create or delete. A name that no object can have is a mistake.
cli::Option check_names(cli::Option option, std::size_t max_size = 253);

}  // namespace liqoctl
