#include "session/output.hpp"

#include <array>

#include "kube/base/printable.hpp"
#include "text/duration.hpp"
#include "text/width.hpp"

namespace liqoctl {
namespace {

constexpr std::array<std::string_view, 10> frames{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr std::string_view clear_line = "\r\x1b[2K";

}  // namespace

Output::Output(kube::async::Clock& clock, Terminal& terminal)
    : clock_(clock),
      terminal_(terminal),
      traits_(terminal.traits()),
      out_{traits_.colours_output},
      err_{traits_.colours_errors} {}

void Output::print(std::string_view text) {
  clear();
  terminal_.print(text);
}

void Output::clear() {
  if (doing_ && traits_.moves_cursor) terminal_.print_error(clear_line);
  doing_.reset();
}

void Output::line(std::string_view prefix, std::string_view coloured, std::string_view scope, std::string_view text) {
  clear();
  // Other clusters may have written much of the text.
  const std::string shown_scope = kube::printable(scope);
  std::string out;
  if (traits_.moves_cursor) {
    out = std::string(coloured) + " " + (scope.empty() ? "" : err_.faint(shown_scope) + " ");
  } else {
    out = std::string(prefix) + ": " + (scope.empty() ? "" : shown_scope + ": ");
  }
  terminal_.print_error(out + kube::printable(text) + "\n");
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
  if (traits_.moves_cursor && doing_) {
    doing_->seen = kube::printable(seen);
    return;
  }
  info(scope,
       "still " + std::string(text) + " after " + text::age(passed) + (seen.empty() ? "" : ": " + std::string(seen)));
}

asio::awaitable<void> Output::animate() {
  if (!traits_.moves_cursor) co_return;
  while (true) {
    co_await clock_.sleep(std::chrono::milliseconds(100));
    if (!doing_) continue;
    const auto passed = clock_.now() - doing_->since;
    std::string out = std::string(clear_line) + err_.warn(frames[frame_++ % frames.size()]) + " ";
    if (!doing_->scope.empty()) out += err_.faint(doing_->scope) + " ";
    // A spinner whose text wraps could not be cleared.
    const std::string told = doing_->seen.empty() ? doing_->text : doing_->text + ": " + doing_->seen;
    terminal_.print_error(out + text::shortened(told, traits_.progress_width) + " " + err_.faint(text::age(passed)));
  }
}

}  // namespace liqoctl
