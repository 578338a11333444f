#include "core/offloading/home_searches.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"
#include "core/offloading/left_out.hpp"

namespace liqo::core {
namespace {
using namespace testing;

constexpr std::string_view both = R"("svc.rome.home.liqo.internal","rome.home.liqo.internal")";

std::string with_names(std::string_view spec_text, std::string_view consumer = "rome") {
  json::object spec = parse_value(spec_text).get_object();
  CHECK(add_home_searches(spec, "shop-rome", consumer).empty());
  return json::serialize(spec);
}

TEST_CASE("a pod that asks the cluster's name server looks up the names of its home") {
  const std::string searches = "\"searches\":[" + std::string(both) + "]";
  const std::string dots = R"("options":[{"name":"ndots","value":"7"}])";
  CHECK(with_names("{}") == "{\"dnsConfig\":{" + searches + "," + dots + "}}");
  CHECK(with_names(R"({"dnsPolicy": "ClusterFirst"})").contains(searches));
  // What the pod says itself stays, and comes first.
  const std::string own = with_names(
      R"({"dnsConfig": {"nameservers": ["10.0.0.1"], "searches": ["corp.example"],
          "options": [{"name": "edns0"}, {"name": "ndots", "value": "2"}]}})");
  CHECK_MESSAGE(own.contains(R"("searches":["corp.example",)" + std::string(both) + "]"), own);
  CHECK_MESSAGE(own.contains(R"("options":[{"name":"edns0"},{"name":"ndots","value":"2"}])"), own);
  CHECK_MESSAGE(own.contains(R"("nameservers":["10.0.0.1"])"), own);
  const std::string no_dots = with_names(R"({"dnsConfig": {"options": [{"name": "edns0"}]}})");
  CHECK_MESSAGE(no_dots.contains(R"([{"name":"edns0"},{"name":"ndots","value":"7"}])"), no_dots);
  // Done twice it is as done once.
  CHECK(with_names(own) == own);
}

TEST_CASE("a pod that asks other name servers stays as it is") {
  for (std::string_view spec : {R"({"dnsPolicy":"Default"})", R"({"dnsPolicy":"None"})",
                                R"({"dnsPolicy":"ClusterFirstWithHostNet"})", R"({"hostNetwork":true})"})
    CHECK(with_names(spec) == spec);
  CHECK(with_names("{}", "") == "{}");
}

TEST_CASE("more search domains than Kubernetes takes are not made, and that is told") {
  const auto spec_with = [](std::size_t count, std::size_t length) {
    json::array searches;
    for (std::size_t i = 0; i < count; ++i)
      searches.emplace_back(std::to_string(i) + std::string(length, 'x') + ".example");
    return json::object{{"dnsConfig", json::object{{"searches", std::move(searches)}}}};
  };
  const struct {
    std::size_t count, length;
    bool fits;
  } cases[] = {{21, 1, true}, {22, 1, false}, {32, 1, false}, {15, 60, true}, {15, 110, false}};
  for (const auto& each : cases) {
    CAPTURE(each.count);
    CAPTURE(each.length);
    json::object spec = spec_with(each.count, each.length);
    const json::object before = spec;
    CHECK(add_home_searches(spec, "shop-rome", "rome") == (each.fits ? "" : left_out_names()));
    CHECK((spec == before) != each.fits);
  }
}

}  // namespace
}  // namespace liqo::core
