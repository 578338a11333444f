// What `liqoctl info` knows of this cluster: from objects to a document, and from that to text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/tenant/closings.hpp"
#include "text/palette.hpp"

namespace liqoctl::model {

struct LocalObjects {
  std::string cluster_id, version, server;  ///< version "" = unknown
  std::vector<kube::Object> pods;           ///< of Liqo's namespace
  std::vector<kube::Object> foreign_clusters;
  std::string daemon_alert = {};  ///< what to say of a liqod that does not run, "" = nothing
  ClosingObjects lending = {};    ///< what is lent and taken, and its consumers, with their policies
  /// What this user may not read, by section of the document ("health", "peerings"): why.
  std::map<std::string, std::string, std::less<>> unknown;
};

/// The document that `-o json` shows and `--get` picks from: local, health, peerings.
kube::json::object local_info(const LocalObjects& objects);

/// As render_peer(), for that document.
std::string render_local(const kube::json::value& part, std::string_view path, const text::Palette& palette);

}  // namespace liqoctl::model
