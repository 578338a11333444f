#include "net/tls/tcp_silence.hpp"

#include <doctest/doctest.h>

#include <string>

namespace kube::test {

using namespace std::chrono_literals;

TEST_CASE("a connection is cut off where nobody answers, not where a peer has no memory for what it is sent") {
  struct Case {
    std::string title;
    net::TcpSilence seen;
    bool is_cut_off;
  };
  const Case cases[] = {
      {"nothing is under way", {}, false},
      {"one packet was lost", {1, 100ms, 350ms, 400ms}, false},
      // From 200 ms, doubled each time: the sixth comes after 12.6 s, and the next would after 12.8 s more.
      {"the sixth has just been sent again", {6, 0ms, 12600ms, 12800ms}, true},
      {"the seventh is about to be", {6, 12700ms, 25300ms, 12800ms}, true},
      {"five times, which a network may take to find another way", {5, 0ms, 6200ms, 6400ms}, false},
      {"each was answered at once, as Linux does under tcp_mem", {6, 22916ms, 22916ms, 53248ms}, false},
      {"likewise, an answer of half a second being under way", {6, 0ms, 26624ms, 53248ms}, false},
      {"one that was stuck, and has answered neither of the last two", {8, 10s, 50s, 53248ms}, true},
      {"the limit of the system, two minutes, is reached", {12, 5s, 300s, 120s}, true},
  };
  for (const Case& test : cases) {
    CAPTURE(test.title);
    CHECK(test.seen.is_cut_off() == test.is_cut_off);
  }
}

}  // namespace kube::test
