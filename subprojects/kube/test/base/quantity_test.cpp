// Quantities: the whole table of suffixes, exactness, bounds, canonical text.
#include "kube/base/quantity.hpp"

#include <doctest/doctest.h>

namespace kube {
namespace {

Quantity quantity(std::string_view text) {
  auto parsed = Quantity::parse(text);
  CAPTURE(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

}  // namespace

TEST_CASE("a quantity has one canonical text") {
  struct Case {
    const char *text, *canonical;
  };
  for (const auto& [text, canonical] : {
           Case{"0", "0"},
           Case{"-0", "0"},
           Case{"0Ki", "0"},
           Case{"0.000", "0"},
           Case{"00", "0"},
           Case{"1", "1"},
           Case{"+1", "1"},
           Case{"-1", "-1"},
           Case{"007", "7"},
           Case{"1.", "1"},
           Case{".5", "500m"},
           Case{"1n", "1n"},
           Case{"1u", "1u"},
           Case{"1m", "1m"},
           Case{"1k", "1k"},
           Case{"1M", "1M"},
           Case{"1G", "1G"},
           Case{"1T", "1T"},
           Case{"1P", "1P"},
           Case{"1E", "1E"},
           Case{"1Ki", "1Ki"},
           Case{"1Mi", "1Mi"},
           Case{"1Gi", "1Gi"},
           Case{"1Ti", "1Ti"},
           Case{"1Pi", "1Pi"},
           Case{"1Ei", "1Ei"},
           Case{"1000", "1k"},
           Case{"1000m", "1"},
           Case{"1500m", "1500m"},
           Case{"1.5", "1500m"},
           Case{"0.25", "250m"},
           Case{"100000k", "100M"},
           Case{"1001", "1001"},
           Case{"1000n", "1u"},
           Case{"-1500", "-1500"},
           Case{"1024Ki", "1Mi"},
           Case{"1.5Gi", "1536Mi"},
           Case{"0.5Gi", "512Mi"},
           Case{"3072Mi", "3Gi"},
           Case{"1000Ki", "1000Ki"},
           Case{"812.5Ki", "832000"},  // no multiple of 1024, and no suffix of ten with a binary one
           Case{"0.5Ki", "512"},
           Case{"0.001Ki", "1024m"},
           Case{"1.0001Ki", "1024102400u"},
           Case{"-1.5Gi", "-1536Mi"},
           Case{"1e3", "1e3"},
           Case{"1E3", "1e3"},
           Case{"12e6", "12e6"},
           Case{"1500e3", "1500e3"},
           Case{"1e0", "1"},
           Case{"1e-3", "1e-3"},
           Case{"1e+3", "1e3"},
           Case{"1e1", "10"},
           Case{"1e4", "10e3"},
           Case{"0.1e-3", "100e-6"},
       }) {
    CAPTURE(text);
    CHECK(quantity(text).text() == canonical);
    CHECK(quantity(quantity(text).text()) == quantity(text));
  }
}

TEST_CASE("what is no quantity is not taken for one") {
  for (const char* bad :
       {"",    " ",  " 1",  "1 ", "a",  "1a",   "1.2.3", ".",   "-",     "+",  "--1", "1e",   "1e+", "1e1.5", "1ki",
        "1KI", "1K", "1mi", "1g", "1i", "1Eii", "0x10",  "1,5", "1_000", "Ki", "e3",  "1e 3", "inf", "nan"}) {
    CAPTURE(bad);
    CHECK_FALSE(Quantity::parse(bad).has_value());
  }
  CHECK_FALSE(Quantity::parse(std::string_view("1\0", 2)).has_value());
  CHECK_FALSE(Quantity::parse(std::string(101, '1')).has_value());
  CHECK(Quantity::parse(std::string(100, '1')).has_value());
}

TEST_CASE("what is finer than a billionth is rounded away from zero") {
  CHECK(quantity("0.0000000001").text() == "1n");
  CHECK(quantity("1.0000000001").text() == "1000000001n");
  CHECK(quantity("-0.0000000001").text() == "-1n");
  CHECK(quantity("1e-100").text() == "1e-9");
  CHECK(quantity("0.0000000001Ki").text() == "103n");
  CHECK(quantity("0.1n").text() == "1n");
  CHECK(quantity("0." + std::string(90, '0') + "1Ei").text() == "1n");
}

TEST_CASE("what is too large is the largest") {
  const Quantity highest = Quantity(INT64_MAX);
  for (const char* huge :
       {"9223372036854775807", "9223372036854775808", "8Ei", "16Ei", "10E", "1e1000", "1e99999999999999999999",
        "99999999999999999999999999999999999999999999999999999999999999999999"}) {
    CAPTURE(huge);
    CHECK(quantity(huge) == highest);
  }
  CHECK(quantity("-1e1000") == highest * -1);
  CHECK(quantity("7.9999999999Ei") < highest);
  CHECK(highest + highest == highest);
  CHECK((highest * -1) - highest == highest * -1);
  CHECK(highest * INT64_MAX == highest);
  CHECK(highest * INT64_MIN == highest * -1);
  CHECK((highest * -1) * INT64_MIN == highest);
  CHECK(highest.value() == INT64_MAX);
  CHECK(highest.milli_value() == INT64_MAX);
  CHECK((highest * -1).milli_value() == -INT64_MAX);
  CHECK(Quantity(INT64_MIN).value() == -INT64_MAX);
}

TEST_CASE("whole numbers and thousandths are rounded away from zero") {
  struct Case {
    const char* text;
    std::int64_t whole, milli;
  };
  for (const auto& [text, whole, milli] :
       {Case{"0", 0, 0}, Case{"1", 1, 1000}, Case{"1m", 1, 1}, Case{"1u", 1, 1}, Case{"1001m", 2, 1001},
        Case{"-1m", -1, -1}, Case{"-1500m", -2, -1500}, Case{"2Ki", 2048, 2048000}, Case{"0.1Ki", 103, 102400},
        Case{"1500000u", 2, 1500}}) {
    CAPTURE(text);
    CHECK(quantity(text).value() == whole);
    CHECK(quantity(text).milli_value() == milli);
  }
}

TEST_CASE("quantities are compared and calculated by value") {
  CHECK(quantity("1Gi") == quantity("1024Mi"));
  CHECK(quantity("1Gi") > quantity("1G"));
  CHECK(quantity("-1") < quantity("0"));
  CHECK(quantity("1e3") == quantity("1k"));
  CHECK((quantity("1500m") + quantity("500m")).text() == "2");
  CHECK((quantity("1Gi") - quantity("512Mi")).text() == "512Mi");
  CHECK((quantity("1Gi") + quantity("1G")).text() == "2073741824");
  CHECK((quantity("250m") * 4).text() == "1");
  CHECK((Quantity() + quantity("1Gi")).text() == "1Gi");
  CHECK((quantity("1") - quantity("1")).is_zero());
  CHECK(quantity("-5").sign() == -1);
  CHECK(Quantity().sign() == 0);
}

TEST_CASE("int-or-string fields are read as both") {
  CHECK(Quantity::from_json(json::value(5))->text() == "5");
  CHECK(Quantity::from_json(json::value(std::uint64_t(1) << 63)).value() == Quantity(INT64_MAX));
  CHECK(Quantity::from_json(json::value("5Mi"))->text() == "5Mi");
  CHECK(Quantity::from_json(json::value(0.5))->text() == "500e-3");
  CHECK_FALSE(Quantity::from_json(json::value(true)).has_value());
  CHECK_FALSE(Quantity::from_json(json::value(nullptr)).has_value());
  CHECK_FALSE(Quantity::from_json(json::value(json::object())).has_value());
}

TEST_CASE("people read thousands in digits") {
  CHECK(Quantity::parse("1000")->readable() == "1000");
  CHECK(Quantity::parse("1500k")->readable() == "1500000");
  CHECK(Quantity::parse("2M")->readable() == "2M");
  CHECK(Quantity::parse("500m")->readable() == "500m");
  CHECK(Quantity::parse("1536Mi")->readable() == "1536Mi");
}

TEST_CASE("a sum at the bound of quantities is right again when parts of it are taken away") {
  const Quantity most = *Quantity::parse("9223372036854775807"), five = *Quantity::parse("5Gi");
  QuantitySum sum;
  CHECK(sum.is_zero());
  for (int i = 0; i < 100; ++i) sum += most;
  sum += five;
  CHECK(sum.total() == most);
  QuantitySum others;
  for (int i = 0; i < 100; ++i) others += most;
  sum -= others;
  CHECK(sum.total() == five);
  sum -= five;
  CHECK(sum.is_zero());
  // An empty sum takes the format of what comes first.
  sum += five;
  CHECK(sum.total().text() == "5Gi");
  sum -= most;
  sum -= most;
  CHECK(sum.total() == Quantity() - most);
}

}  // namespace kube
