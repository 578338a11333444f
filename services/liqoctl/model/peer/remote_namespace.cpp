#include "model/peer/remote_namespace.hpp"

#include "core/peering/silence.hpp"

namespace liqoctl::model {

bool note_remote_namespace(kube::Object& foreign_cluster, std::string_view ns) {
  const std::string_view key = liqo::core::remote_liqo_namespace;
  if (ns == usual_remote_namespace) {
    if (!foreign_cluster.has_annotation(key)) return false;
    kube::ensure_object(foreign_cluster.mutable_metadata(), "annotations").erase(key);
    return true;
  }
  if (foreign_cluster.annotation(key) == ns) return false;
  foreign_cluster.set_annotation(key, ns);
  return true;
}

}  // namespace liqoctl::model
