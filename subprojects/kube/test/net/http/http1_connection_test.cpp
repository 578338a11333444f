// How far a request had come that has failed on a connection of a client.
#include "net/http/http1_connection.hpp"

#include <doctest/doctest.h>

#include "support/run.hpp"

namespace kube::net {
namespace {

/// Takes a number of bytes, and then breaks.
class Breaking final : public ClientStream {
 public:
  explicit Breaking(std::uint64_t takes) : takes_(takes) {}
  asio::awaitable<Result<std::size_t>> read_some(std::span<char>) override { co_return std::size_t{0}; }
  asio::awaitable<Result<void>> write(std::string_view) override {
    taken_ += takes_;
    co_return fail(Errc::closed, "the peer reset the connection");
  }
  void close() override {}
  bool is_quiet() override { return true; }
  std::uint64_t bytes_taken() const override { return taken_; }
  void reset_at_close() override {}

 private:
  std::uint64_t takes_, taken_ = 1000;  // by requests before
};

asio::awaitable<void> send_over(std::uint64_t taken, bool& has_sent) {
  Http1Connection connection(std::make_unique<Breaking>(taken));
  HttpRequest request;
  request.method = "POST";
  request.target = "/";
  const auto head = co_await connection.exchange(request, "host", "", {});
  REQUIRE_FALSE(head.has_value());
  CHECK(head.error().code() == Errc::closed);
  has_sent = connection.has_sent();
}

}  // namespace

TEST_CASE("a request of which nothing could be written has not been sent, and one of which a byte was may have been") {
  bool has_sent = true;
  test::run(send_over(0, has_sent));
  CHECK_FALSE(has_sent);
  test::run(send_over(1, has_sent));
  CHECK(has_sent);
}

}  // namespace kube::net
