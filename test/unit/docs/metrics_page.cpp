// docs/metrics.md, generated from the families that the code declares: "write FILE", or "check FILE".
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>

#include "kube/telemetry/families.hpp"
#include "telemetry/families.hpp"

namespace {

const char* type_of(const kube::MetricFamily& family) {
  switch (family.type) {
    case kube::MetricType::counter:
      return "counter";
    case kube::MetricType::gauge:
      return "gauge";
    case kube::MetricType::histogram:
      break;
  }
  return "histogram";
}

void add_table(std::ostream& out, std::span<const kube::MetricFamily* const> families) {
  out << "| metric | type | labels | says |\n| --- | --- | --- | --- |\n";
  for (const kube::MetricFamily* family : families) {
    out << "| `" << family->name << "` | " << type_of(*family) << " | ";
    for (std::size_t i = 0; i < family->label_count(); ++i) out << (i ? ", " : "") << "`" << family->labels[i] << "`";
    out << " | " << family->help << " |\n";
  }
}

std::string page() {
  std::ostringstream out;
  out << R"(# Metrics

Made from the code (`ninja -C BUILD metrics-page` writes it anew, and a test compares). `/metrics` of each liqod serves them at
`--metrics-address`, over HTTPS and to those who may read them ([how](monitoring.md#who-may-read-them)); alerts and boards are in
the chart.

- Whoever asks gets what is true now, as long as that takes no more than a tenth of the thread; beyond it the last text again.
  What is read from objects is a second old at most.
- What is read from the objects of the cluster (`liqo_quota_*` but the counters, `liqo_slice_*`, `liqo_virtual_node_*`,
  `liqo_peer_reachable`, `liqo_identity_*`) shows the replica that leads, and no other: sums over all replicas are right.
- A series that names a peer, a node, a slice or a namespace goes when that goes.
- Label values are of closed sets, or names of objects of this cluster. A consumer chooses the names of its slices and asks for
  resources by name: of each consumer 50 slices of 16 resources are shown, and `liqo_quota_series_left_out` says how many amounts
  are not.
- With `--metrics-hide-peers` each peer is `peer-<n>` in every label that would name it.

## Liqo

`cluster_id` (and `cluster`, where a library counts that knows no Liqo) is the other cluster; `node_name` a virtual node.
Amounts are in cores, bytes or pieces.

)";
  add_table(out, liqo::families::all);
  out << R"(
`reason` of `liqo_quota_refusals_total`: `no_quota` (then `cluster_id` is empty), `unreadable`, `withdrawn`, `malformed`,
`cordoned`, `drained`, `enforcement`, `no_room`.

## Controllers, caches and API servers

Those of controller-runtime and client-go have their names and labels. `controller` has the Go version's word where it has such a
controller.

)";
  add_table(out, kube::families::all);
  return out.str();
}

}  // namespace

int main(int count, char** arguments) {
  const std::span<char*> given(arguments, static_cast<std::size_t>(count));
  const std::string made = page();
  if (given.size() == 3 && std::string_view(given[1]) == "write") {
    std::ofstream(given[2]) << made;
    return 0;
  }
  if (given.size() != 3 || std::string_view(given[1]) != "check") {
    std::cerr << "write FILE, or check FILE\n";
    return 2;
  }
  std::ifstream file(given[2]);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  if (there == made) return 0;
  std::cerr << given[2] << " is not what the code declares; write it anew: ninja -C BUILD metrics-page\n";
  return 1;
}
