#include "kube/base/url.hpp"

#include <doctest/doctest.h>

TEST_CASE("what is percent-encoded is decoded to the same, and what is not so encoded is not") {
  const std::string every = "a-Z_0.~ /?&=+%\n\xc3\xa9";
  CHECK(kube::percent_encode(every) == "a-Z_0.~%20%2F%3F%26%3D%2B%25%0A%C3%A9");
  CHECK(kube::percent_decode(kube::percent_encode(every)) == every);
  CHECK(kube::percent_decode("a+b%2b%2B") == "a+b++");
  CHECK(kube::percent_decode("a+b%2b", true) == "a b+");
  for (const char* malformed : {"%", "a%2", "%g0", "%0g", "%%41"}) {
    CAPTURE(malformed);
    CHECK_FALSE(kube::percent_decode(malformed));
  }
}

TEST_CASE("the path of a request is what is before its query") {
  CHECK(kube::path_of("/metrics") == "/metrics");
  CHECK(kube::path_of("/metrics?a=b?c") == "/metrics");
  CHECK(kube::path_of("?a") == "");
  CHECK(kube::path_of("") == "");
}

TEST_CASE("a target has its parameters behind one question mark, in their order, with encoded values") {
  CHECK(kube::RequestTarget("/api").take() == "/api");
  CHECK(kube::RequestTarget("/api").add_if("a", "").add("b", "").add_if("c", "1 & 2").add("d", "=").take() ==
        "/api?b=&c=1%20%26%202&d=%3D");
}
