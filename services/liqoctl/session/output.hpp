// What people see: results on standard output, progress on standard error. On a terminal a step turns a spinner until
// it is over; elsewhere each step is one plain line when it is over.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "command_line/terminal.hpp"
#include "kube/async/clock.hpp"
#include "text/palette.hpp"

namespace liqoctl {

/// One per session. A scope says which cluster a line is about: "rome"; "" = none.
class Output {
 public:
  /// Both outlive it.
  Output(kube::async::Clock& clock, Terminal& terminal);

  /// To standard output, as it is. For results and only those.
  void print(std::string_view text);
  void info(std::string_view scope, std::string_view text);
  void success(std::string_view scope, std::string_view text);
  void warn(std::string_view scope, std::string_view text);
  void error(std::string_view scope, std::string_view text);
  /// Lines that only `--verbose` shows.
  void detail(std::string_view scope, std::string_view text);
  void set_verbose(bool verbose) { verbose_ = verbose; }

  /// What is going on now, until the next line of any kind.
  void doing(std::string_view scope, std::string_view text);
  /// What the step waits for: beside the spinner, or, without a terminal, on a line of its own.
  void still(std::string_view scope, std::string_view text, std::string_view seen, kube::Duration passed);

  /// Turns the spinner for as long as it runs; ends when cancelled.
  asio::awaitable<void> animate();

  /// For what goes to standard output.
  const text::Palette& palette() const { return out_; }
  /// Removes the spinner, so that somebody else may write.
  void clear();

 private:
  struct Doing {
    std::string scope, text;
    kube::TimePoint since;
    std::string seen = {};
  };
  void line(std::string_view prefix, std::string_view coloured, std::string_view scope, std::string_view text);

  kube::async::Clock& clock_;
  Terminal& terminal_;
  TerminalTraits traits_;
  bool verbose_ = false;
  text::Palette out_, err_;
  std::optional<Doing> doing_;
  std::size_t frame_ = 0;
};

}  // namespace liqoctl
