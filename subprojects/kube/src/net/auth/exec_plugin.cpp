#include "kube/net/auth/exec_plugin.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace kube::net {

namespace {

constexpr std::size_t max_answer = std::size_t{1} << 20;
constexpr std::size_t max_hint = 1024;
/// How often a program is looked at on a kernel before 5.3, which has no handles of processes.
constexpr std::chrono::milliseconds look_pause{20};
constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

/// Of the two ends of a pipe the child gets one, as its standard output.
struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

/// A child that does not outlive its owner's interest in it.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
  }

  bool ended() {
    if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) != 0;
    return ended_;
  }
  /// Waits for its end by a handle of its own: the handler of SIGCHLD is the host program's.
  asio::awaitable<void> wait(async::Clock& clock) {
    asio::posix::stream_descriptor handle(co_await asio::this_coro::executor);
    const auto opened = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    if (opened >= 0) handle.assign(opened);
    while (!ended()) {
      if (handle.is_open()) {
        co_await handle.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
      } else {
        co_await clock.sleep(look_pause);
      }
    }
  }
  /// How it ended, "" if all went well.
  std::string fault() const {
    if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
    if (WEXITSTATUS(status_) != 0) return "ended with exit code " + std::to_string(WEXITSTATUS(status_));
    return {};
  }

 private:
  pid_t pid_;
  int status_ = 0;
  bool ended_ = false;
};

/// A name without a slash is looked for in $PATH, but never in the directory that this process happens to be in.
std::string locate(const std::string& command) {
  if (command.contains('/')) return command;
  const char* path = std::getenv("PATH");
  for (const std::string_view directory : split(path ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    if (!directory.starts_with('/')) continue;
    std::string file = std::string(directory) + "/" + command;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::vector<std::string> environment(const wire::ExecPlugin& plugin, std::string info) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.env) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = std::move(info);
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// A program that is to run.
struct Program {
  std::string file;
  std::vector<std::string> argv, env;
  bool with_input = false;  ///< it reads our standard input, else nothing
};

/// Answers 0 or an errno.
int spawn(Program program, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (!program.with_input) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // Sockets to API servers are not closed by themselves.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failure = posix_spawn(&pid, program.file.c_str(), &actions, &attributes, pointers(program.argv).data(),
                                  pointers(program.env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

/// "; " and the plugin's installation hint on one line, or nothing.
std::string hint(const wire::ExecPlugin& plugin) {
  const std::string text = one_line(plugin.install_hint, max_hint);
  return text.empty() ? text : "; " + text;
}

/// Everything that comes out of the pipe until the program closes it, and then the program's end.
asio::awaitable<Result<std::string>> read_to_end(async::Clock& clock, asio::posix::stream_descriptor& output,
                                                 Child& child) {
  std::string answer;
  char buffer[8192];
  while (true) {
    auto [failure, count] = co_await output.async_read_some(asio::buffer(buffer), as_values);
    if (failure == asio::error::operation_aborted) throw boost::system::system_error(failure);
    if (failure) break;
    answer.append(buffer, count);
    if (answer.size() > max_answer) co_return fail(Errc::too_large, "answers more than 1 MiB");
  }
  co_await child.wait(clock);
  if (const std::string fault = child.fault(); !fault.empty()) co_return fail(Errc::invalid_input, fault);
  co_return answer;
}

}  // namespace

asio::awaitable<Result<wire::ExecCredential>> ExecPluginRunner::ask(wire::ClusterConfig config) {
  using enum wire::ExecPlugin::Interactive;
  const wire::ExecPlugin& plugin = *config.exec;
  const std::string what = "exec plugin '" + plugin.command + "'";
  if (plugin.interactive == always && !options_.terminal)
    co_return fail(Errc::unsupported, what + " wants to talk to somebody: run this at a terminal");
  const bool interactive = plugin.interactive != never && options_.terminal;

  Program program{.file = locate(plugin.command), .argv = {plugin.command}, .env = {}, .with_input = interactive};
  if (program.file.empty()) co_return fail(Errc::missing, what + " is not found in PATH" + hint(plugin));
  program.argv.insert(program.argv.end(), plugin.args.begin(), plugin.args.end());
  program.env = environment(plugin, wire::exec_info(config, plugin, interactive));

  const auto executor = co_await asio::this_coro::executor;
  Pipe pipe;
  if (!pipe.open()) co_return fail(Errc::missing, what + " cannot be run: " + std::strerror(errno));
  pid_t pid = 0;
  const int refused = spawn(std::move(program), pipe.ends[1], pid);
  if (refused != 0) co_return fail(Errc::missing, what + " cannot be run: " + std::strerror(refused) + hint(plugin));
  Child child(pid);
  pipe.close(pipe.ends[1]);
  asio::posix::stream_descriptor output(executor, std::exchange(pipe.ends[0], -1));

  const Duration timeout = interactive ? options_.interactive_timeout : options_.timeout;
  auto answer = co_await async::with_timeout(clock_, read_to_end(clock_, output, child), timeout);
  if (!answer)
    co_return fail(Errc::timeout,
                   what + " has not ended within " +
                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) +
                       " s, and was killed");
  if (!*answer) co_return fail((*answer).error().code(), what + " " + (*answer).error().text());
  auto credential = wire::parse_exec_credential(**answer, plugin);
  if (!credential) co_return fail(std::move(credential.error()), what);
  co_return credential;
}

}  // namespace kube::net
