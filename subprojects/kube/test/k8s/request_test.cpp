#include "kube/k8s/request.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("a selector names a label with its value, or a name") {
  CHECK(label_is("liqo.io/replicated") == "liqo.io/replicated=true");
  CHECK(label_is("liqo.io/originID", "rome") == "liqo.io/originID=rome");
  CHECK(label_is_not("liqo.io/type", "virtual-node") == "liqo.io/type!=virtual-node");
  CHECK(name_is("milan") == "metadata.name=milan");
}

TEST_CASE("a header is found whatever its case") {
  const HttpHeaders headers{{"content-type", "text/plain"}, {"X-Empty", ""}};
  CHECK(find_header(headers, "Content-Type") == "text/plain");
  CHECK(find_header(headers, "x-empty").empty());
  CHECK(find_header(headers, "accept").empty());
}
