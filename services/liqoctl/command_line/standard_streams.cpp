#include "command_line/standard_streams.hpp"

#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <iostream>

namespace liqoctl {
namespace {

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return !term || std::string_view(term) == "dumb";
}

bool colours_on(int stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(stream) && !is_dumb() && (!no_color || !*no_color);
}

}  // namespace

StandardStreams::StandardStreams()
    : traits_{.can_be_asked = isatty(STDIN_FILENO) == 1,
              .moves_cursor = isatty(STDERR_FILENO) && !is_dumb(),
              .colours_output = colours_on(STDOUT_FILENO),
              .colours_errors = colours_on(STDERR_FILENO)} {}

void StandardStreams::print(std::string_view text) { std::cout << text << std::flush; }
void StandardStreams::print_error(std::string_view text) { std::cerr << text << std::flush; }
std::istream& StandardStreams::input() { return std::cin; }

asio::awaitable<std::string> StandardStreams::read_line() {
  asio::posix::stream_descriptor input(co_await asio::this_coro::executor, dup(STDIN_FILENO));
  asio::streambuf buffer(256);
  boost::system::error_code failure;
  co_await asio::async_read_until(input, buffer, '\n', asio::redirect_error(asio::use_awaitable, failure));
  std::string line;
  std::istream stream(&buffer);
  std::getline(stream, line);
  co_return line;
}

}  // namespace liqoctl
