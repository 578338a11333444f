// The output for users: results on standard output, progress on standard error. On a terminal, a spinner shows the step
// until it is over. Elsewhere each step is one plain line once it is over.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "command_line/terminal.hpp"
#include "kube/async/clock.hpp"
#include "text/palette.hpp"

namespace liqoctl {

/// One per session. A scope names the cluster that a line is about: "rome"; "" = none.
class Output {
 public:
  /// Both outlive it.
  Output(kube::async::Clock& clock, Terminal& terminal);

  /// Writes to standard output, unchanged. For results only.
  void print(std::string_view text);
  void info(std::string_view scope, std::string_view text);
  void success(std::string_view scope, std::string_view text);
  void warn(std::string_view scope, std::string_view text);
  void error(std::string_view scope, std::string_view text);
  /// Writes lines that only `--verbose` shows.
  void detail(std::string_view scope, std::string_view text);
  void set_verbose(bool verbose) { verbose_ = verbose; }

  /// Shows the present step until the next line of any kind.
  void doing(std::string_view scope, std::string_view text);
  /// Shows what the step waits for: beside the spinner, or, without a terminal, on a line of its own.
  void still(std::string_view scope, std::string_view text, std::string_view seen, kube::Duration passed);

  /// Turns the spinner for as long as it runs; ends when cancelled.
  asio::awaitable<void> animate();

  /// The colours of standard output.
  const text::Palette& palette() const { return out_; }
  /// Removes the spinner, so that another writer may use the terminal.
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
