// Which version of the daemon a cluster runs.
#pragma once

#include "cluster.hpp"

namespace liqoctl {

/// The image of liqod (or of the Go version's controller-manager) in Liqo's namespace, "" where there is no such
/// Deployment, for example because liqod runs outside of the cluster.
asio::awaitable<Result<std::string>> read_liqod_image(Cluster& cluster);
/// The tag of that image.
asio::awaitable<Result<std::string>> read_liqod_version(Cluster& cluster);

/// The tag of an image reference: "" where it has none, or only a digest.
std::string image_tag(std::string_view image);

}  // namespace liqoctl
