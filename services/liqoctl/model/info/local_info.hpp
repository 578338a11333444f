// The content of `liqoctl info` about this cluster: from objects to a document, and from that to text.
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
  std::string daemon_alert = {};  ///< the state of a liqod that does not run, "" = it runs, or unknown
  ClosingObjects lending = {};    ///< resources lent and taken, and consumers, with their policies
  /// The reasons why this user may not read sections of the document ("health", "peerings").
  std::map<std::string, std::string, std::less<>> unknown;
};

/// The document that `-o json` shows and `--get` picks from: local, health, peerings.
kube::json::object local_info(const LocalObjects& objects);

/// The document, or a part of it that `--get` picked, as text: sections if that part is one, a bare scalar, or YAML.
/// `path` is where the part was picked from, "" = the whole.
std::string render_local(const kube::json::value& part, std::string_view path, const text::Palette& palette);

}  // namespace liqoctl::model
