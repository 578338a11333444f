// The record of reservations as text.
#include "core/quota/ledger.hpp"

#include <doctest/doctest.h>

#include "test_amounts.hpp"

namespace liqo::core {
namespace {

using testing::resources;

TEST_CASE("a ledger survives its ConfigMap") {
  LedgerRecord record{.floor = 1234567890123, .reservations = {}, .unreadable = {}};
  record.reservations["uid-1"] = {.pod = {"shop", "web-0"}, .demand = resources({{"cpu", "250m"}, {"pods", "1"}})};
  record.reservations["uid-2"] = {.pod = {"shop", "web.1"}, .demand = {}, .unproven = true};
  const Reservation growth{
      .pod = {"shop", "web-0"}, .demand = resources({{"cpu", "1"}}), .unproven = false, .from = 71};
  const std::string growing = growth_key("uid-1", 4);
  CHECK(uid_of(growing) == "uid-1");
  CHECK(uid_of("uid-1") == "uid-1");
  record.reservations[growing] = growth;
  const kube::Object config_map = forge_ledger("liqo", {"liqo-tenant-rome", "pool-573ffa690333"}, record);
  CHECK(config_map.ns() == "liqo");
  CHECK(config_map.name() == ledger_name({"liqo-tenant-rome", "pool-573ffa690333"}));
  CHECK(config_map.annotation("liqo.io/quota") == "liqo-tenant-rome/pool-573ffa690333");

  const auto read = LedgerRecord::read(config_map);
  REQUIRE(read);
  CHECK(read->floor == record.floor);
  REQUIRE(read->reservations.size() == 3);
  CHECK(read->reservations.at(growing).from == 71);
  CHECK(read->reservations.at(growing).grows());
  CHECK_FALSE(read->reservations.at("uid-1").grows());
  CHECK(read->reservations.at("uid-1").pod.text() == "shop/web-0");
  CHECK(read->reservations.at("uid-1").demand == record.reservations.at("uid-1").demand);
  CHECK_FALSE(read->reservations.at("uid-1").unproven);
  CHECK(read->reservations.at("uid-2").unproven);
}

TEST_CASE("a record names the Quota that nobody decides without any more") {
  LedgerRecord record;
  const auto stored = [&] { return *LedgerRecord::read(forge_ledger("liqo", {"a", "b"}, record)); };
  CHECK_FALSE(stored().quota);
  CHECK_FALSE(stored().may_be_newer_than({.uid = "one", .generation = 1}));
  record.quota = QuotaVersion{.uid = "one", .generation = 3};
  REQUIRE(stored().quota == record.quota);
  CHECK(stored().may_be_newer_than({.uid = "one", .generation = 2}));
  CHECK_FALSE(stored().may_be_newer_than({.uid = "one", .generation = 3}));
  CHECK_FALSE(stored().may_be_newer_than({.uid = "one", .generation = 4}));
  // Of two Quotas of one name nobody knows which is the newer one.
  CHECK(stored().may_be_newer_than({.uid = "another", .generation = 9}));
  // The Quota was withdrawn.
  record.quota = QuotaVersion();
  REQUIRE(stored().quota);
  CHECK(stored().may_be_newer_than({.uid = "one", .generation = 3}));
}

TEST_CASE("a ConfigMap without a ledger is empty, and one that is broken is an error") {
  kube::Object config_map = forge_ledger("liqo", {"a", "b"}, {});
  config_map.tree().erase("data");
  REQUIRE(LedgerRecord::read(config_map));
  CHECK(LedgerRecord::read(config_map)->reservations.empty());
  for (const char* text : {"", "{", "[]", "{\"version\":2,\"floor\":\"1\"}", "{\"version\":1}",
                           "{\"version\":1,\"floor\":\"-1\"}", "{\"version\":1,\"floor\":\"x\",\"reservations\":{}}"}) {
    CAPTURE(text);
    config_map.tree()["data"] = kube::json::object{{ledger_key, text}};
    CHECK_FALSE(LedgerRecord::read(config_map));
  }
}

TEST_CASE("an entry that cannot be understood is kept, and takes no other one with it") {
  kube::Object config_map = forge_ledger("liqo", {"a", "b"}, {});
  for (const char* entry :
       {R"({"pod":"x","demand":{}})", R"({"pod":"/web","demand":{}})", R"({"pod":"a/","demand":{}})",
        R"({"pod":"a/b"})", R"({"pod":"a/b","demand":{"cpu":"-1"}})", "[]", "null"}) {
    CAPTURE(entry);
    const std::string text = R"({"version":1,"floor":"1","reservations":{"bad":)" + std::string(entry) +
                             R"(,"good":{"pod":"a/b","demand":{"cpu":"1"}}}})";
    config_map.tree()["data"] = kube::json::object{{ledger_key, text}};
    auto read = LedgerRecord::read(config_map);
    REQUIRE(read);
    CHECK(read->reservations.size() == 1);
    CHECK(read->reservations.contains("good"));
    REQUIRE(read->unreadable.contains("bad"));
    CHECK(read->unreadable.at("bad") == kube::json::parse(entry));
    // It stays when others are written down, until it expires.
    CHECK(kube::json::parse(read->text()) == kube::json::parse(text));
    read->reservations.clear();
    CHECK_FALSE(read->empty());
  }
}

TEST_CASE("a reservation that can be written down can be read again") {
  Reservation reservation{.pod = {std::string(63, 'n'), std::string(253, 'p')}, .demand = {}};
  for (int i = 0; i < 20; ++i)
    reservation.demand["example.com/" + std::string(40, 'r') + std::to_string(i)] = kube::Quantity(1'000'000'000'001);
  CHECK(is_recordable(std::string(36, 'u'), reservation));
  LedgerRecord record;
  record.reservations["uid"] = reservation;
  const std::size_t without = LedgerRecord().text().size();
  // The last one has no comma.
  CHECK(record.text().size() - without + 2 == reservation_bytes("uid", reservation));

  Reservation of_many = reservation;
  for (int i = 0; i < 257; ++i) of_many.demand[std::to_string(i)] = kube::Quantity(1);
  CHECK_FALSE(is_recordable("uid", of_many));
  CHECK_FALSE(is_recordable(std::string(8192, 'u'), reservation));
  CHECK_FALSE(is_recordable("uid", {.pod = {"", "web"}, .demand = {}}));
  CHECK_FALSE(is_recordable("uid", {.pod = {"shop", ""}, .demand = {}}));
  reservation.demand["example.com/" + std::string(8192, 'r')] = kube::Quantity(1);
  CHECK_FALSE(is_recordable("uid", reservation));
}

}  // namespace
}  // namespace liqo::core
