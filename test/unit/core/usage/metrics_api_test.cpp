#include "core/usage/metrics_api.hpp"

#include <doctest/doctest.h>

#include "kube/base/json.hpp"

using namespace liqo::core;

namespace {

const std::string scrape = "/apis/metrics.liqo.io/v1beta1/scrape/";

}  // namespace

TEST_CASE("the documents of discovery say what API servers expect") {
  for (const char* path : {"/apis", "/apis/", "/apis/metrics.liqo.io", "/openapi/v2", "/openapi/v3"}) {
    CAPTURE(path);
    const auto text = metrics_api_document(path);
    REQUIRE(text);
    CHECK(kube::parse_json(*text));
  }
  const auto resources = kube::parse_json(metrics_api_document("/apis/metrics.liqo.io/v1beta1").value_or("")).value();
  const auto& list = kube::array_at(resources, {"resources"});
  REQUIRE(list.size() == 1);
  CHECK(kube::string_at(list.at(0), {"name"}) == "scrape/metrics");
  CHECK_FALSE(kube::bool_at(list.at(0), {"namespaced"}));
  for (const char* path : {"", "/", "/apis/metrics.liqo.io/v1beta2", "/openapi", "/apisx"})
    CHECK_FALSE(metrics_api_document(path));
}

TEST_CASE("a path names a consumer and what kubelets serve") {
  struct Case {
    std::string path, consumer, kubelet_path;
    int refused = 0;
  };
  for (const Case& c : {
           Case{scrape + "rome/metrics", "rome", "/metrics"},
           Case{scrape + "rome/metrics/resource", "rome", "/metrics/resource"},
           Case{scrape + "rome//metrics/cadvisor/", "rome", "/metrics/cadvisor"},
           Case{scrape + "rome/metrics/probes", "rome", "/metrics/probes"},
           Case{scrape + "rome/metrics/other", "", "", 400},
           Case{scrape + "rome/exec", "", "", 400},
           Case{scrape + "rome/metrics/..", "", "", 400},
           Case{scrape + "rome/metrics/resource/more", "", "", 400},
           Case{scrape + "rome", "", "", 404},
           Case{scrape + "system:masters/metrics", "", "", 404},
           Case{scrape + "rome%2f/metrics", "", "", 404},
           Case{"/apis/metrics.liqo.io/v1beta1/scrap/rome/metrics", "", "", 404},
           Case{"/apis/metrics.k8s.io/v1beta1/scrape/rome/metrics", "", "", 404},
           Case{"", "", "", 404},
       }) {
    CAPTURE(c.path);
    const auto route = read_scrape_route(c.path);
    REQUIRE(route.has_value() == (c.refused == 0));
    if (route) {
      CHECK(route->consumer == c.consumer);
      CHECK(route->kubelet_path == c.kubelet_path);
    } else {
      CHECK(route.error().status == c.refused);
      CHECK_FALSE(route.error().sentence.empty());
    }
  }
}

TEST_CASE("the path at which a consumer reads figures is one that is parsed") {
  CHECK(scrape_path("rome", "/metrics/resource") == scrape + "rome/metrics/resource");
  const auto route = read_scrape_route(scrape_path("rome", "/metrics"));
  REQUIRE(route);
  CHECK(route->consumer == "rome");
  CHECK(route->kubelet_path == "/metrics");
  const auto nothing = read_scrape_route("/apis");
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().sentence ==
        "not found; metrics are at /apis/metrics.liqo.io/v1beta1/scrape/<cluster ID>/metrics[/...]");
}

TEST_CASE("figures of a consumer are for its virtual nodes and for administrators") {
  using Groups = std::vector<std::string>;
  const auto may = [](Groups groups) { return !refuse_scrape({.name = "somebody", .groups = groups}, "rome"); };
  CHECK(may(Groups{"rome", "system:authenticated"}));
  CHECK(may(Groups{"system:masters"}));
  CHECK_FALSE(may(Groups{"milan", "system:authenticated"}));
  CHECK_FALSE(may(Groups{"liqo.io"}));
  CHECK_FALSE(may(Groups{"rome-2"}));
  CHECK_FALSE(may(Groups{}));
  CHECK_FALSE(!refuse_scrape({.name = "rome", .groups = {"liqo.io"}}, "rome"));
  const auto refusal = refuse_scrape({.name = "pool-1234", .groups = {"milan"}}, "rome");
  REQUIRE(refusal);
  CHECK(refusal->status == 403);
  CHECK(refusal->sentence ==
        R"(the metrics of cluster "rome" are not for user "pool-1234", who is not of that cluster)");
}
