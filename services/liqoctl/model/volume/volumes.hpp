// The refusal to end twins that hold the data of volumes, as a sentence. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/storage/remote_data.hpp"

namespace liqoctl::model {

/// Names the claims, of which there is at least one, and says what to do: save the data and delete them, or `way_out`.
std::string describe_remote_data(std::span<const liqo::core::storage::RemoteData> data, std::string_view way_out);

}  // namespace liqoctl::model
