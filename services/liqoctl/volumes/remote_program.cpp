#include "volumes/remote_program.hpp"

#include <boost/asio/this_coro.hpp>
#include <memory>

#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/remote_command.hpp"
#include "volumes/files.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
using kube::async::TaskGroup;
using Channel = kube::wire::CommandChannel;
constexpr std::string_view last_word = volume_end;

/// Bounds of a kept output, of standard error, of a line in a message, and of a line.
constexpr std::size_t max_output = 64 * 1024, max_words = 8 * 1024, max_shown = 300, max_line = 256 * 1024;

/// A running program. Call stop() before it is destroyed.
class Running {
 public:
  Running(Cluster& cluster, const asio::any_io_executor& executor, RemoteProgram program)
      : cluster_(cluster), program_(std::move(program)), tasks_(executor), listener_(executor) {}

  asio::awaitable<Result<void>> start(bool with_input) {
    kube::RemoteCommandRequest request{.ns = program_.pod.ns,
                                       .pod = program_.pod.name,
                                       .container = {},
                                       .command = program_.command,
                                       .streams = {.in = with_input, .out = true, .err = true}};
    auto connected = co_await kube::connect_remote_command(cluster_.upgrader(), cluster_.clock(), std::move(request));
    if (!connected) co_return in_pod(std::move(connected.error()));
    command_ = std::move(*connected);
    tasks_.spawn(command_->run());
    if (auto ready = co_await command_->ready(cluster_.clock().deadline_in(std::chrono::seconds(30))); !ready)
      co_return in_pod(std::move(ready.error()));
    listener_.spawn(listen());
    co_return Result<void>();
  }

  /// The next piece of the output; "" is the end.
  asio::awaitable<Result<std::string>> read() { return command_->read(Channel::out); }
  asio::awaitable<Result<void>> write(const std::string& bytes) { return command_->write_stdin(bytes); }
  void end_input() { command_->close_stdin(); }

  /// Waits until it has ended. Its output must have been read.
  asio::awaitable<Result<void>> end() {
    auto status = co_await command_->result();
    if (!status) co_return in_pod(std::move(status.error()));
    co_await listener_.join();
    auto result = kube::wire::decode_result(command_->connection().version(), *status);
    if (!result) co_return in_pod(std::move(result.error()));
    using Kind = kube::wire::CommandResult::Kind;
    // The session has failed, not the program.
    if (result->kind == Kind::failed) co_return in_pod(kube::Failure(Errc::closed, kube::printable(result->message)));
    if (result->kind != Kind::success)
      co_return in_pod(kube::Failure(Errc::invalid_input, words_.empty() ? result->message : words()));
    if (!words_.empty()) cluster_.output().warn(cluster_.scope(), words());
    co_return Result<void>();
  }

  asio::awaitable<void> stop() {
    if (command_) command_->close();
    co_await listener_.stop();
    co_await tasks_.stop();
  }

 private:
  asio::awaitable<void> listen() {
    while (true) {
      auto piece = co_await command_->read(Channel::err);
      if (!piece || piece->empty()) co_return;
      words_ += piece->substr(0, max_words - words_.size());
    }
  }
  std::string words() const {
    std::string out;
    for (std::string_view left = words_; !left.empty();) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      out += (out.empty() ? "" : "; ") + kube::printable(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    return out;
  }
  std::unexpected<kube::Failure> in_pod(kube::Failure failure) const {
    return kube::fail(std::move(failure), "in pod " + program_.pod.text());
  }

  Cluster& cluster_;
  RemoteProgram program_;
  std::unique_ptr<kube::RemoteCommand> command_;
  std::string words_;
  TaskGroup tasks_, listener_;
};

/// Whether the end of a session was lost. A kubelet may lose it, with the result, if the container runtime closes its
/// side while this one still sends. Programs therefore end their output with a last word, which counts as success.
bool is_cut(const kube::Failure& failure) { return failure.code() == Errc::closed; }

template <class Answered>
using Body = asio::awaitable<Result<Answered>>;

asio::awaitable<void> stop_all(std::vector<Running*> programs) {
  for (Running* program : programs) co_await program->stop();
}

/// Runs `body` until the deadline. Then it stops the programs, however `body` ended.
template <class Answered>
Body<Answered> stopped_after(Cluster& cluster, kube::Deadline deadline, std::vector<Running*> programs,
                             Body<Answered> body) {
  auto answer = co_await kube::async::finally(kube::async::with_deadline(cluster.clock(), std::move(body), deadline),
                                              stop_all(std::move(programs)));
  if (!answer) co_return kube::fail(Errc::timeout, "it took longer than --timeout allows");
  co_return std::move(*answer);
}

Body<std::string> output_of(Running& program) {
  std::string out;
  while (true) {
    KUBE_CO_TRY(piece, co_await program.read());
    if (piece.empty()) co_return out;
    out += piece.substr(0, max_output - out.size());
  }
}

Body<std::string> run_alone(Running& program) {
  KUBE_CO_TRYV(co_await program.start(false));
  auto out = co_await output_of(program);
  auto ended = co_await program.end();
  if (!ended && !(is_cut(ended.error()) && out && out->ends_with(last_word)))
    co_return std::unexpected(std::move(ended.error()));
  co_return out;
}

Body<std::string> run_piped(Running& from, Running& to, std::function<void(std::uint64_t)> seen) {
  KUBE_CO_TRYV(co_await to.start(true));
  KUBE_CO_TRYV(co_await from.start(false));
  std::uint64_t passed = 0;
  bool is_taken = true;
  Result<void> sent;
  while (true) {
    auto piece = co_await from.read();
    if (!piece) sent = std::unexpected(std::move(piece.error()));
    if (!piece || piece->empty()) break;
    // The reader itself reports why it takes no more.
    is_taken = (co_await to.write(*piece)).has_value();
    if (!is_taken) break;
    seen(passed += piece->size());
  }
  if (is_taken && sent) sent = co_await from.end();
  if (!sent && !is_cut(sent.error())) co_return std::unexpected(std::move(sent.error()));
  to.end_input();
  auto out = co_await output_of(to);
  auto received = co_await to.end();
  // Only the reader knows whether all data has arrived.
  if (out && out->ends_with(last_word) && (received || is_cut(received.error()))) co_return out;
  if (!sent) co_return std::unexpected(std::move(sent.error()));
  if (!received) co_return std::unexpected(std::move(received.error()));
  co_return kube::fail(Errc::closed, "the pod at the target did not say that it has all files");
}

std::string first_line(std::string_view text) {
  return kube::printable(text.substr(0, std::min(text.find('\n'), max_shown)));
}

Body<std::uint64_t> run_compared(Running& one, Running& other) {
  for (Running* each : {&one, &other}) KUBE_CO_TRYV(co_await each->start(false));
  std::string here, there, here_last, there_last;
  std::uint64_t lines = 0;
  bool here_goes_on = true, there_goes_on = true;
  const auto differs = [&] {
    return kube::fail(Errc::protocol, here.empty() ? "the target has more: \"" + first_line(there) + "\""
                                                   : "the target lacks \"" + first_line(here) + "\"");
  };
  while (here_goes_on || there_goes_on) {
    // The program that is behind is read next.
    const bool ask_here = here_goes_on && (here.size() <= there.size() || !there_goes_on);
    Running& asked = ask_here ? one : other;
    std::string& last = ask_here ? here_last : there_last;
    auto piece = co_await asked.read();
    if (!piece && !(is_cut(piece.error()) && last == last_word)) co_return std::unexpected(std::move(piece.error()));
    if (!piece || piece->empty()) {
      (ask_here ? here_goes_on : there_goes_on) = false;
      if (auto ended = co_await asked.end(); !ended && !(is_cut(ended.error()) && last == last_word))
        co_return std::unexpected(std::move(ended.error()));
      if (last != last_word) co_return kube::fail(Errc::closed, "the list of files has no end");
      continue;
    }
    (ask_here ? here : there) += *piece;
    last += *piece;
    last.erase(0, last.size() - std::min(last.size(), last_word.size()));
    while (!here.empty() && !there.empty()) {
      const std::size_t end = here.find('\n'), other_end = there.find('\n');
      if (end == std::string::npos || other_end == std::string::npos) break;
      if (here.compare(0, end, there, 0, other_end) != 0)
        co_return kube::fail(Errc::protocol, "the copy differs: \"" + first_line(here) + "\" is \"" +
                                                 first_line(there) + "\" at the target");
      here.erase(0, end + 1);
      there.erase(0, other_end + 1);
      ++lines;
    }
    // One program has ended, or its line does not end.
    if (here.size() > max_line || there.size() > max_line) co_return differs();
  }
  if (!here.empty() || !there.empty()) co_return differs();
  // The first directory and the last word are not counted.
  co_return lines - 2;
}

}  // namespace

asio::awaitable<Result<std::string>> run_program(Cluster& cluster, kube::Deadline deadline, RemoteProgram program) {
  Running running(cluster, co_await asio::this_coro::executor, std::move(program));
  co_return co_await stopped_after<std::string>(cluster, deadline, {&running}, run_alone(running));
}

asio::awaitable<Result<std::string>> pipe_program(Cluster& cluster, kube::Deadline deadline, Pipe pipe) {
  const auto executor = co_await asio::this_coro::executor;
  Running source(cluster, executor, std::move(pipe.from)), target(cluster, executor, std::move(pipe.to));
  co_return co_await stopped_after<std::string>(cluster, deadline, {&source, &target},
                                                run_piped(source, target, std::move(pipe.seen)));
}

asio::awaitable<Result<std::uint64_t>> compare_programs(Cluster& cluster, kube::Deadline deadline, RemoteProgram one,
                                                        RemoteProgram other) {
  const auto executor = co_await asio::this_coro::executor;
  Running here(cluster, executor, std::move(one)), there(cluster, executor, std::move(other));
  co_return co_await stopped_after<std::uint64_t>(cluster, deadline, {&here, &there}, run_compared(here, there));
}

}  // namespace liqoctl
