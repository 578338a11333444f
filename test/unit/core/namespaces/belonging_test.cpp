#include "core/namespaces/belonging.hpp"

#include "../objects.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

using namespace testing;

}  // namespace

TEST_CASE("a namespace is a tenant namespace or a twin by its labels") {
  struct Row {
    std::string_view marked;  ///< the value of the mark; "-" = it has none
    std::string_view cluster;
    bool is_tenant;
    std::string_view consumer;
  };
  for (const Row& row : {
           Row{"true", "rome", true, ""},
           Row{"yes", "rome", true, ""},
           Row{"true", "", true, ""},
           Row{"-", "rome", false, "rome"},
           Row{"false", "rome", false, "rome"},
           Row{"", "rome", false, "rome"},
           Row{"-", "", false, ""},
       }) {
    CAPTURE(row.marked);
    CAPTURE(row.cluster);
    kube::Object ns = parse(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})");
    if (row.marked != "-") ns.set_label(api::labels::tenant_namespace, row.marked);
    if (!row.cluster.empty()) ns.set_label(api::labels::remote_cluster_id, row.cluster);
    CHECK(is_tenant_namespace(ns) == row.is_tenant);
    CHECK(consumer_of_twin(ns) == row.consumer);
    std::vector<std::string> indexed;
    core::index_tenant_namespace(ns, indexed);
    CHECK(indexed == (row.is_tenant ? std::vector<std::string>{std::string(row.cluster)} : std::vector<std::string>()));
  }
}

}  // namespace liqo::core
