#include "session/output.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>

#include "kube/base/printable.hpp"
#include "text/duration.hpp"
#include "text/width.hpp"

namespace liqoctl {
namespace {

constexpr std::array<std::string_view, 10> frames{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr std::string_view clear_line = "\r\x1b[2K";
/// Columns of a line of progress, without the cluster and the time.
constexpr std::size_t max_progress = 100;

bool colours_on(int stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = !term || std::string_view(term) == "dumb";
  return isatty(stream) && !dumb && (!no_color || !*no_color);
}

bool moves_cursor() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
}

}  // namespace

Output::Output(kube::async::Clock& clock)
    : clock_(clock), terminal_(moves_cursor()), out_{colours_on(STDOUT_FILENO)}, err_{colours_on(STDERR_FILENO)} {}

void Output::print(std::string_view text) {
  clear();
  std::cout << text << std::flush;
}

void Output::clear() {
  if (doing_ && terminal_) std::cerr << clear_line << std::flush;
  doing_.reset();
}

void Output::line(std::string_view prefix, std::string_view coloured, std::string_view scope, std::string_view text) {
  clear();
  // Other clusters may have written much of the text.
  const std::string shown_scope = kube::printable(scope);
  if (terminal_) {
    std::cerr << coloured << " ";
    if (!scope.empty()) std::cerr << err_.faint(shown_scope) << " ";
  } else {
    std::cerr << prefix << ": ";
    if (!scope.empty()) std::cerr << shown_scope << ": ";
  }
  std::cerr << kube::printable(text) << "\n" << std::flush;
}

void Output::info(std::string_view scope, std::string_view text) { line("INFO", err_.faint("•"), scope, text); }
void Output::success(std::string_view scope, std::string_view text) { line("INFO", err_.good("✔"), scope, text); }
void Output::warn(std::string_view scope, std::string_view text) { line("WARN", err_.warn("!"), scope, text); }
void Output::error(std::string_view scope, std::string_view text) { line("ERRO", err_.bad("✖"), scope, text); }

void Output::detail(std::string_view scope, std::string_view text) {
  if (verbose_) info(scope, text);
}

void Output::doing(std::string_view scope, std::string_view text) {
  clear();
  doing_ = Doing{kube::printable(scope), kube::printable(text), clock_.now()};
}

void Output::still(std::string_view scope, std::string_view text, std::string_view seen, kube::Duration passed) {
  if (terminal_ && doing_) {
    doing_->seen = kube::printable(seen);
    return;
  }
  info(scope,
       "still " + std::string(text) + " after " + text::age(passed) + (seen.empty() ? "" : ": " + std::string(seen)));
}

asio::awaitable<void> Output::animate() {
  if (!terminal_) co_return;
  while (true) {
    co_await clock_.sleep(std::chrono::milliseconds(100));
    if (!doing_) continue;
    const auto passed = clock_.now() - doing_->since;
    std::cerr << clear_line << err_.warn(frames[frame_++ % frames.size()]) << " ";
    if (!doing_->scope.empty()) std::cerr << err_.faint(doing_->scope) << " ";
    // A text of several lines could not be cleared.
    const std::string told = doing_->seen.empty() ? doing_->text : doing_->text + ": " + doing_->seen;
    std::cerr << text::shortened(told, max_progress) << " " << err_.faint(text::age(passed)) << std::flush;
  }
}

}  // namespace liqoctl
