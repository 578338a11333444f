// Looks names up at the name server that the pods of this cluster ask.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "core/namespaces/home_names_judge.hpp"

namespace liqod {

/// Whether the name server has an address for the name, by the system's resolver on a thread of its own. No search
/// domain is tried. May be cancelled: the thread goes on by itself, and later look-ups of that name wait for it.
std::function<boost::asio::awaitable<liqo::core::NameLook>(std::string name)> make_name_look_up();

}  // namespace liqod
