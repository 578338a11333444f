// Which pods say that they carry a volume.
#include "core/storage/volume_carrier.hpp"

#include "../objects.hpp"

namespace liqo::core::storage {
namespace {

using namespace core::testing;

constexpr std::string_view labels = R"({"app.kubernetes.io/component": "volume-carrier",
    "app.kubernetes.io/managed-by": "liqoctl"})";
constexpr std::string_view spec = R"({"restartPolicy": "Never", "activeDeadlineSeconds": 3600,
    "containers": [{"name": "carrier", "command": ["/usr/bin/liqoctl", "volume", "hold"]}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]})";

/// What is laid over the labels or the spec; null takes a field away.
bool is_one(std::string_view label_changes, std::string_view spec_changes) {
  json::object pod{{"metadata", json::object{{"labels", parse_value(labels)}}}, {"spec", parse_value(spec)}};
  const auto change = [](json::object& into, std::string_view text) {
    const json::value changes = parse_value(text);
    for (const auto& [key, value] : changes.get_object()) into[key] = value;
  };
  change(pod["metadata"].get_object()["labels"].get_object(), label_changes);
  change(pod["spec"].get_object(), spec_changes);
  return is_volume_carrier(pod);
}

}  // namespace

TEST_CASE("a pod carries a volume that has the labels, the command, a claim and an end") {
  struct Case {
    const char *title, *labels, *spec;
    bool is_one;
  };
  const Case cases[] = {
      {"as liqoctl makes it", "{}", "{}", true},
      {"as a webhook of others changes it", R"({"injected": "yes"})", R"({"initContainers": [{"name": "proxy"}]})",
       true},
      {"of another component", R"({"app.kubernetes.io/component": "web"})", "{}", false},
      {"of another manager", R"({"app.kubernetes.io/managed-by": "Helm"})", "{}", false},
      {"that is started again", "{}", R"({"restartPolicy": "Always"})", false},
      {"without an end", "{}", R"({"activeDeadlineSeconds": null})", false},
      {"beside a container of others", "{}",
       R"({"containers": [{"name": "proxy"}, {"command": ["/usr/bin/liqoctl", "volume", "hold"]}]})", true},
      {"that runs something else", "{}", R"({"containers": [{"name": "main", "command": ["sh"]}]})", false},
      {"that runs more", "{}", R"({"containers": [{"command": ["/usr/bin/liqoctl", "volume", "hold", "x"]}]})", false},
      {"without a claim", "{}", R"({"volumes": [{"name": "data", "emptyDir": {}}, 1]})", false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    CHECK(is_one(one.labels, one.spec) == one.is_one);
  }
  // Whoever writes a Job has its pods created by a controller that may do more.
  json::object owned{{"metadata", json::object{{"labels", parse_value(labels)}}}, {"spec", parse_value(spec)}};
  CHECK(is_volume_carrier(owned));
  owned["metadata"].get_object()["ownerReferences"] = parse_value(R"([{"kind": "Job", "name": "sneaks"}])");
  CHECK_FALSE(is_volume_carrier(owned));
  CHECK_FALSE(is_volume_carrier(parse_value(R"({"spec": 1, "metadata": []})").get_object()));
}

}  // namespace liqo::core::storage
