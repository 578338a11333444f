// Options of an operator for StorageClass liqo.
#pragma once

#include <string>

namespace liqo::controllers {

/// The options of liqod about StorageClass liqo. A default here is that of the option.
struct StorageSettings {
  /// The StorageClass whose claims follow their pods into other clusters; "" = there is none.
  std::string storage_class;
  std::string storage_namespace = "liqo-storage";  ///< for the real claims behind those that stay in this cluster
};

}  // namespace liqo::controllers
