#include "kube/wire/gzip_decoder.hpp"

#include <doctest/doctest.h>

#include "support/gzip.hpp"

using namespace kube;
using namespace kube::testing;
using namespace kube::wire;

namespace {

/// What is inside, fed in pieces of that size, or the failure's words; how many blocks it came in.
std::string unpack(const std::string& packed, std::size_t piece, std::size_t* blocks = nullptr) {
  GzipDecoder decoder;
  std::string out;
  for (std::size_t at = 0; at < packed.size(); at += piece) {
    decoder.feed(packed.substr(at, piece));
    while (true) {
      auto block = decoder.take();
      if (!block) return "failure: " + block.error().text();
      if (block->empty()) break;
      CHECK(block->size() <= GzipDecoder::max_block);
      if (blocks) ++*blocks;
      out += *block;
    }
  }
  return decoder.is_complete() ? out : "incomplete";
}

}  // namespace

TEST_CASE("what was packed is unpacked, in whatever pieces it comes") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "item " + std::to_string(i * 7919 % 10'007) + ", ";
  const std::string packed = gzip(text);
  for (const std::size_t piece : {std::size_t(1), std::size_t(1000), packed.size()})
    CHECK(unpack(packed, piece) == text);
  CHECK(unpack(gzip(""), 5).empty());
}

TEST_CASE("what is packed a thousandfold comes block by block") {
  std::size_t blocks = 0;
  const std::string text(10'000'000, 'x');
  CHECK(unpack(gzip(text), 1 << 20, &blocks) == text);
  CHECK(blocks > 150);
}

TEST_CASE("a stream of several members is one text, and may end behind each") {
  const std::string packed = gzip("one") + gzip("") + gzip("two") + gzip(std::string(100'000, 'x'));
  for (const std::size_t piece : {std::size_t(1), std::size_t(7), packed.size()})
    CHECK(unpack(packed, piece) == "onetwo" + std::string(100'000, 'x'));
  CHECK(unpack(packed + gzip("cut").substr(0, 5), 100) == "incomplete");
  CHECK(unpack(packed.substr(0, gzip("one").size()), 1) == "one");
}

TEST_CASE("what is no gzip, is cut short or goes on behind its end is refused") {
  const std::string packed = gzip("some text that is to be packed");
  CHECK(unpack("{\"items\": []}", 100).starts_with("failure: "));
  CHECK(unpack(packed.substr(0, packed.size() - 1), 100) == "incomplete");
  CHECK(unpack(packed + "more", 100).starts_with("failure: "));
  CHECK(unpack(packed + "more", 1).starts_with("failure: "));
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // its checksum
  CHECK(unpack(damaged, 100).starts_with("failure: "));
}
