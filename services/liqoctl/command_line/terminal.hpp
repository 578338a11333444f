// The three streams of a command, and the traits of the terminal behind them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace liqoctl {

namespace asio = boost::asio;

/// Known before anything is written. The default is for no terminal.
struct TerminalTraits {
  bool can_be_asked = false;    ///< a user types the input
  bool moves_cursor = false;    ///< a line of progress can be cleared
  bool colours_output = false;  ///< print() may have colours
  bool colours_errors = false;
  std::size_t progress_width = 100;  ///< columns of a line of progress, without the cluster and the time
};

/// One thread.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual TerminalTraits traits() const = 0;
  /// Writes to standard output, at once.
  virtual void print(std::string_view text) = 0;
  /// Writes to standard error, at once.
  virtual void print_error(std::string_view text) = 0;
  /// The next line of standard input, cut to its first 256 characters; "" at the end of the input.
  virtual asio::awaitable<std::string> read_line() = 0;
  /// The whole standard input, for documents.
  virtual std::istream& input() = 0;
};

}  // namespace liqoctl
