// Options of an operator for the whole process, by story.
#pragma once

#include <string>

#include "controllers/common/link_settings.hpp"
#include "controllers/common/namespace_settings.hpp"
#include "controllers/common/node_settings.hpp"
#include "controllers/common/offloading_settings.hpp"
#include "controllers/common/peering_settings.hpp"
#include "controllers/common/reflection_settings.hpp"
#include "controllers/common/storage_settings.hpp"
#include "core/slices/policy.hpp"

namespace liqo::controllers {

/// The options of liqod, as the controllers read them. A default here is that of the option.
struct Settings {
  std::string cluster_id;               ///< of the cluster that this process serves
  std::string liqo_namespace = "liqo";  ///< the namespace that Liqo is installed in
  core::SlicePolicy slices;             ///< how much consumers get; a ConfigMap can change it while the process runs

  LinkSettings links;
  NamespaceSettings namespaces;
  NodeSettings nodes;
  OffloadingSettings offloading;
  PeeringSettings peering;
  ReflectionSettings reflection;
  StorageSettings storage;
};

}  // namespace liqo::controllers
