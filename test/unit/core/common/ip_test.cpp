// Addresses, ranges, and their remapping between clusters.
#include "core/common/ip.hpp"

#include <doctest/doctest.h>

namespace liqo::core {

TEST_CASE("an address moves into a range with its own host bits") {
  struct Case {
    const char *address, *range, *moved;
  };
  for (const auto& [address, range, moved] :
       {Case{"192.168.1.50", "10.0.0.0/27", "10.0.0.18"}, Case{"10.255.1.1", "78.5.78.143/18", "78.5.65.1"},
        Case{"192.168.2.10", "255.4.224.0/19", "255.4.226.10"},
        Case{"192.168.200.25", "192.168.201.0/24", "192.168.201.25"}, Case{"fd00:1::25", "fd00:2::/64", "fd00:2::25"},
        Case{"fd00:1::25", "10.0.0.0/8", "fd00:1::25"}, Case{"1.2.3.4", "5.6.7.8/32", "5.6.7.8"},
        Case{"1.2.3.4", "5.6.7.8/0", "1.2.3.4"}}) {
    CAPTURE(address);
    CAPTURE(range);
    CHECK(move_into(*IpAddress::parse(address), *Cidr::parse(range)).text() == moved);
  }
}

TEST_CASE("what is no address or no range is not taken for one") {
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "a", "::g", "1.2.3.4/24", "fe80::1%eth0", " 1.2.3.4"})
    CHECK_FALSE(IpAddress::parse(bad).has_value());
  CHECK_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0", 8)).has_value());
  for (const char* bad :
       {"", "1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/a", "::/129", "/8", "1.2.3.4/1x"})
    CHECK_FALSE(Cidr::parse(bad).has_value());
}

TEST_CASE("the first range that holds an address decides") {
  IpMapping mapping;
  REQUIRE(mapping
              .add(std::vector<std::string>{"192.168.200.0/24", "192.168.210.0/24", "10.9.0.0/16"},
                   std::vector<std::string>{"192.168.201.0/24", "192.168.211.0/24", "10.9.0.0/16"})
              .has_value());
  CHECK(mapping.remap("192.168.200.25") == "192.168.201.25");
  CHECK(mapping.remap("192.168.210.25") == "192.168.211.25");
  CHECK(mapping.remap("10.9.1.1") == "10.9.1.1");
  CHECK(mapping.remap("172.16.0.1") == "172.16.0.1");
  CHECK_FALSE(mapping.remap("garbage").has_value());
}

TEST_CASE("without ranges every address stays") {
  const IpMapping none;
  CHECK(none.empty());
  CHECK(none.remap("1.2.3.4") == "1.2.3.4");
}

TEST_CASE("some addresses are of no pod of another cluster") {
  for (const char* special : {"0.0.0.0",
                              "127.0.0.1",
                              "169.254.169.254",
                              "224.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "fe80::1",
                              "ff02::1",
                              "::ffff:10.2.0.5",
                              "::10.2.0.5",
                              "64:ff9b::a02:5",
                              "2002:a02:5::1",
                              "fd00:ec2::254",
                              "fd20:ce::254",
                              "100.100.100.200",
                              "168.63.129.16",
                              "192.0.0.192",
                              "fd00:c1::a9fe:a9fe",
                              "fd00:42::42",
                              "64:ff9b:1::a02:5"}) {
    CAPTURE(special);
    CHECK(IpAddress::parse(special)->is_special());
  }
  for (const char* usual :
       {"10.2.0.5", "192.0.2.1", "100.64.0.1", "223.255.255.255", "fd00::1", "fd00:ec2::1", "2001:db8::1"}) {
    CAPTURE(usual);
    CHECK_FALSE(IpAddress::parse(usual)->is_special());
  }
}

TEST_CASE("ranges are read from a text, and the first word that is none is named") {
  const auto words = [](const char* text) {
    const auto ranges = parse_ranges(text);
    return ranges ? in_words(*ranges) : ranges.error().text();
  };
  CHECK(words("10.2.0.0/16") == "10.2.0.0/16");
  CHECK(words(" 10.2.3.4/16,,fd00:2::1/64 ") == "10.2.0.0/16, fd00:2::/64");
  CHECK(words("") == "");
  CHECK(words("10.2.0.0/16,10.3.0.0") == "\"10.3.0.0\" is no range of addresses such as 10.2.0.0/16");
  CHECK(words("none") == "\"none\" is no range of addresses such as 10.2.0.0/16");
}

TEST_CASE("two ranges overlap where one holds the other") {
  struct Case {
    const char *one, *other;
    bool overlap;
  };
  for (const auto& [one, other, overlap] :
       {Case{"10.0.0.0/8", "10.2.0.0/16", true}, Case{"10.2.0.0/16", "10.2.0.0/16", true},
        Case{"10.2.0.0/16", "10.3.0.0/16", false}, Case{"0.0.0.0/0", "10.3.0.0/16", true},
        Case{"0.0.0.0/0", "fd00::/8", false}, Case{"fd00:2::/64", "fd00::/16", true},
        Case{"fd00:2::/64", "fd00:3::/64", false}, Case{"10.96.0.1/32", "10.96.0.0/12", true}}) {
    CAPTURE(one);
    CAPTURE(other);
    CHECK(Cidr::parse(one)->overlaps(*Cidr::parse(other)) == overlap);
    CHECK(Cidr::parse(other)->overlaps(*Cidr::parse(one)) == overlap);
  }
}

TEST_CASE("ranges are merged to the fewest with the same addresses") {
  for (const auto& [text, merged] : std::vector<std::pair<const char*, const char*>>{
           {"", ""},
           {"10.2.1.0/24,10.2.0.0/24", "10.2.0.0/23"},
           {"10.2.1.0/24,10.2.2.0/24", "10.2.1.0/24, 10.2.2.0/24"},
           {"10.2.3.0/24,10.2.2.0/24,10.2.0.0/24,10.2.1.0/24", "10.2.0.0/22"},
           {"10.2.0.0/16,10.2.7.0/24,10.2.0.0/16", "10.2.0.0/16"},
           {"10.2.0.0/24,10.2.1.0/25,10.2.1.128/25,10.2.1.7/32", "10.2.0.0/23"},
           {"fd00::/64,10.2.0.0/24,fd00:0:0:1::/64", "10.2.0.0/24, fd00::/63"},
           {"0.0.0.0/1,128.0.0.0/1", "0.0.0.0/0"},
           {"0.0.0.0/0,::/0", "0.0.0.0/0, ::/0"},
       }) {
    CAPTURE(text);
    CHECK(in_words(merge_ranges(*parse_ranges(text))) == merged);
  }
}

TEST_CASE("pairs that cannot be mapped one to one are refused, and nothing of them is kept") {
  using Ranges = std::vector<std::string>;
  IpMapping mapping;
  CHECK_FALSE(mapping.add(Ranges{"10.0.0.0/16"}, Ranges{}).has_value());
  CHECK_FALSE(mapping.add(Ranges{"10.0.0.0/16"}, Ranges{"10.1.0.0/17"}).has_value());
  CHECK_FALSE(mapping.add(Ranges{"10.0.0.0/16"}, Ranges{"fd00::/16"}).has_value());
  CHECK_FALSE(mapping.add(Ranges{"10.0.0.0/16", "x"}, Ranges{"10.1.0.0/16", "10.2.0.0/16"}).has_value());
  CHECK_FALSE(mapping.add(Ranges{"10.0.0.0/16"}, Ranges{"x"}).has_value());
  CHECK(mapping.empty());
}

}  // namespace liqo::core
