// The fields of a slice that liqod fills in at the consumer, over a fake API server.
#include <doctest/doctest.h>

#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;

}  // namespace

TEST_CASE("a slice with only the label of its provider is completed and signed for") {
  SliceConsumer rome;
  rome.add_slice();
  const auto complete = [&] {
    const auto slice = rome.find(kinds::resource_slices, rome.key);
    return slice && !api::ResourceSlice(*slice).csr().empty();
  };
  REQUIRE(rome.reaches(complete));
  const auto slice = rome.find(kinds::resource_slices, rome.key);
  const api::ResourceSlice view(*slice);
  CHECK(view.consumer() == "rome");
  CHECK(view.provider() == "milan");
  CHECK(slice->label(api::labels::replication) == "true");
  CHECK(slice->label(api::labels::replication_destination) == "milan");
  const auto csr = core::read_signing_request(*kube::decode_base64(view.csr()));
  REQUIRE(csr);
  CHECK(csr->name == core::slice_name("pool", "rome"));
  rome.pass(5s);
  const std::size_t before = rome.writes();
  rome.pass(1h);
  CHECK(rome.writes() == before);

  kube::Object lost = kube::Object::make(kinds::resource_slices, {rome.ns, "lost"});
  lost.set_label(api::labels::remote_cluster_id, "turin");
  rome.apply(kinds::resource_slices, lost);
  CHECK(rome.reaches([&] { return !rome.events("InvalidResourceSlice").empty(); }));
}

TEST_CASE("a slice of a class that is not Liqo's says who has to answer") {
  SliceConsumer rome;
  rome.add_slice();
  kube::Object gold = kube::Object::make(kinds::resource_slices, {rome.ns, "rare"});
  gold.set_label(api::labels::remote_cluster_id, "milan");
  gold.mutable_spec() = parsed(R"({"class": "gold"})");
  rome.apply(kinds::resource_slices, gold);
  CHECK(rome.reaches([&] { return !rome.events("WaitingForClass").empty(); }));
  rome.pass(5s);
  CHECK(rome.events("WaitingForClass").size() == 1);
  CHECK(rome.events("WaitingForClass").front().find("class gold") != std::string::npos);
}

TEST_CASE("a denied edit is told at home, with what goes on and what to do") {
  SliceConsumer rome;
  rome.add_slice();
  rome.answer(R"({"cpu": "4"})", "Denied");
  rome.pass(5s);
  // A drain, as far as is known: no grant goes on.
  CHECK(rome.events("RequestDenied").empty());
  rome.change(kinds::resource_slices, rome.key, "status", [](json::object& next) {
    json::object& condition = next["status"].as_object()["conditions"].as_array()[1].as_object();
    condition["reason"] = "RequestDenied";
    condition["message"] = "too much";
  });
  REQUIRE(rome.reaches([&] { return !rome.events("RequestDenied").empty(); }));
  CHECK(rome.events("RequestDenied").front().find("\"too much\"; granted as before: cpu 4") != std::string::npos);
  rome.pass(1min);
  CHECK(rome.events("RequestDenied").size() == 1);
}

}  // namespace liqo::testing
