// How it is told that volumes stand in the way of what would end the twins that hold their data. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "liqo/core/storage/remote_data.hpp"

namespace liqoctl::model {

/// Why these, of which there is at least one, stand in the way, and what to do about it: save and delete, or `way_out`.
std::string describe_remote_data(std::span<const liqo::core::storage::RemoteData> data, std::string_view way_out);

}  // namespace liqoctl::model
