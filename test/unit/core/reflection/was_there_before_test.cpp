// Whether an object that was applied had been created by somebody else.
#include "core/reflection/was_there_before.hpp"

#include "../objects.hpp"

namespace liqo::core::reflection {
namespace {

using namespace testing;

/// An entry of managedFields; `second` after the creation of the object.
std::string wrote(std::string_view manager, int second, std::string_view subresource = "") {
  std::string entry = R"({"manager": ")" + std::string(manager) + R"(", "time": "2026-11-21T10:00:0)" +
                      std::to_string(second) + R"(Z")";
  if (!subresource.empty()) entry += R"(, "subresource": ")" + std::string(subresource) + R"(")";
  return entry + "}";
}

}  // namespace

TEST_CASE("an object was there before if another manager had written it, or we wrote it after its creation") {
  struct Case {
    const char* title;
    std::vector<std::string> managers;
    bool expected;
  };
  const Case cases[] = {
      {"without managedFields", {}, false},
      {"ours alone", {wrote("us", 0)}, false},
      {"ours alone, written again", {wrote("us", 5)}, false},
      {"somebody wrote to ours later", {wrote("us", 0), wrote("kubectl", 5)}, false},
      {"somebody wrote in the same second", {wrote("us", 0), wrote("kubectl", 0)}, true},
      {"somebody's, which we changed", {wrote("kubectl", 0), wrote("us", 5)}, true},
      {"somebody's, which was written again since", {wrote("us", 5), wrote("kubectl", 8)}, true},
      {"a status that was written before us", {wrote("us", 5), wrote("controller", 1, "status")}, false},
      {"never written by us", {wrote("kubectl", 0)}, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    std::string managers;
    for (const std::string& entry : c.managers) managers += (managers.empty() ? "" : ", ") + entry;
    const kube::Object object =
        parse(R"({"metadata": {"name": "web", "creationTimestamp": "2026-11-21T10:00:00Z", "managedFields": [)" +
              managers + "]}}");
    CHECK(was_there_before(object, "us") == c.expected);
  }
}

}  // namespace liqo::core::reflection
