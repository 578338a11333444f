// The streams of this process, and the terminal behind them.
#pragma once

#include "command_line/terminal.hpp"

namespace liqoctl {

class StandardStreams final : public Terminal {
 public:
  /// Reads the traits from the streams, from TERM and from NO_COLOR.
  StandardStreams();

  TerminalTraits traits() const override { return traits_; }
  void print(std::string_view text) override;
  void print_error(std::string_view text) override;
  asio::awaitable<std::string> read_line() override;
  std::istream& input() override;

 private:
  TerminalTraits traits_;
};

}  // namespace liqoctl
