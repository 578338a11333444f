// Twins that nobody wants any more and that stay because they hold the data of volumes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/namespaces/desired_mapping.hpp"
#include "core/storage/remote_data.hpp"

namespace liqo::core {

/// By local namespace: the data in its twin at one provider, never an empty list.
using HeldTwins = std::map<std::string, std::vector<storage::RemoteData>, std::less<>>;

/// Which of the twins in `current` hold data. A twin that is not in `current` holds none: what was in a removed twin
/// does not come back.
HeldTwins held_twins(std::span<const storage::RemoteData> data, std::string_view cluster, const WantedTwins& current);

/// Adds the twins that hold data to the wish, under the names that they have now.
void keep_held(TwinWish& wish, const HeldTwins& held, const WantedTwins& current);

/// Why the twin stays and what to do about it, in one sentence.
std::string why_held(std::string_view ns, std::span<const storage::RemoteData> data);

}  // namespace liqo::core
