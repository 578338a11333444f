// The three streams of a command, and what the terminal behind them can do.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace liqoctl {

namespace asio = boost::asio;

/// Known before anything is written. The default is that of no terminal.
struct TerminalTraits {
  bool can_be_asked = false;    ///< somebody types what is read
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
  /// To standard output, at once.
  virtual void print(std::string_view text) = 0;
  /// To standard error, at once.
  virtual void print_error(std::string_view text) = 0;
  /// The next line of standard input, as far as its first 256 characters; "" at its end.
  virtual asio::awaitable<std::string> read_line() = 0;
  /// Standard input as a whole: for documents.
  virtual std::istream& input() = 0;
};

}  // namespace liqoctl
