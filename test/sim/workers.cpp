// A worker reads a seed from its socket, runs it, writes the outcome, and ends when the socket does.
#include "workers.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

namespace liqo::sim {

namespace {

/// The header before the text of an outcome on the socket.
struct Header {
  std::uint64_t failed;
  std::uint64_t size;
};

/// Reads that many bytes; false if the other side has ended before.
bool read_all(int socket, void* data, std::size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const ssize_t got = ::read(socket, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Writes that many bytes; false if the other side is gone.
bool write_all(int socket, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t put = ::send(socket, at, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

[[noreturn]] void work(int socket, const std::function<Outcome(std::uint64_t)>& schedule) {
  std::uint64_t seed = 0;
  while (read_all(socket, &seed, sizeof seed)) {
    const Outcome outcome = schedule(seed);
    const Header header{outcome.failed, outcome.text.size()};
    if (!write_all(socket, &header, sizeof header) || !write_all(socket, outcome.text.data(), outcome.text.size()))
      break;
  }
  // Not _exit(): sanitizers report leaks on the way out.
  std::exit(0);
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "the worker died of signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "the worker ended with exit code " + std::to_string(WEXITSTATUS(status));
}

class Pool {
 public:
  Pool(std::uint64_t first, std::uint64_t count, const std::function<Outcome(std::uint64_t)>& schedule)
      : next_(first), end_(first + count), schedule_(schedule) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    while (!workers_.empty()) (void)end_worker(workers_.size() - 1);
  }

  /// Starts a worker and gives it a seed.
  void start() {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0)
      throw std::system_error(errno, std::system_category(), "socketpair");
    std::cout.flush();
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::system_category(), "fork");
    if (child == 0) {
      // If this worker held a sibling's socket, the sibling would not see that the parent has closed it.
      for (const Worker& sibling : workers_) ::close(sibling.socket);
      ::close(sockets[0]);
      work(sockets[1], schedule_);
    }
    ::close(sockets[1]);
    workers_.push_back({child, sockets[0], std::nullopt});
    give(workers_.size() - 1);
  }

  bool idle() const { return workers_.empty(); }
  bool has_more() const { return next_ < end_; }

  /// Waits for workers with an outcome, which comes with its seed.
  std::vector<std::pair<std::uint64_t, Outcome>> wait() {
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) waiting.push_back({worker.socket, POLLIN, 0});
    std::vector<std::pair<std::uint64_t, Outcome>> outcomes;
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return outcomes;
    // Backwards, because a worker that ends is removed from the list.
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0) continue;
      const std::uint64_t seed = workers_[i].seed.value_or(end_);
      Header header{};
      Outcome outcome;
      bool whole = read_all(workers_[i].socket, &header, sizeof header);
      if (whole) {
        outcome = {header.failed != 0, std::string(header.size, '\0')};
        whole = read_all(workers_[i].socket, outcome.text.data(), outcome.text.size());
      }
      if (whole) {
        give(i);
      } else {
        outcome = {true, "seed " + std::to_string(seed) + ": " + describe(end_worker(i)) + "\n"};
        if (has_more()) start();
      }
      outcomes.emplace_back(seed, std::move(outcome));
    }
    return outcomes;
  }

  /// The exit codes of workers that were done with their seeds (a sanitizer may have found leaks).
  const std::vector<std::string>& last_words() const { return last_words_; }

 private:
  struct Worker {
    pid_t process = 0;
    int socket = -1;
    std::optional<std::uint64_t> seed;  ///< the seed that it works on
  };

  /// Gives the worker its next seed; if there is none left, ends it.
  void give(std::size_t index) {
    if (has_more()) {
      workers_[index].seed = next_++;
      // The next read finds that the worker is gone.
      (void)write_all(workers_[index].socket, &*workers_[index].seed, sizeof(std::uint64_t));
      return;
    }
    if (const int status = end_worker(index); status != 0)
      last_words_.push_back(describe(status) + " after its last seed\n");
  }

  int end_worker(std::size_t index) {
    ::close(workers_[index].socket);
    int status = 0;
    while (::waitpid(workers_[index].process, &status, 0) < 0 && errno == EINTR) {
    }
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    return status;
  }

  std::uint64_t next_;
  const std::uint64_t end_;
  const std::function<Outcome(std::uint64_t)>& schedule_;
  std::vector<Worker> workers_;
  std::vector<std::string> last_words_;
};

}  // namespace

void run_in_workers(std::uint64_t first, std::uint64_t count, unsigned jobs,
                    const std::function<Outcome(std::uint64_t)>& schedule,
                    const std::function<void(const Outcome&)>& take) {
  Pool pool(first, count, schedule);
  for (unsigned i = 0; i < jobs && pool.has_more(); ++i) pool.start();
  std::map<std::uint64_t, Outcome> early;
  std::uint64_t expected = first;
  while (!pool.idle()) {
    for (auto& [seed, outcome] : pool.wait()) early.emplace(seed, std::move(outcome));
    for (auto at = early.find(expected); at != early.end(); at = early.find(++expected)) {
      take(at->second);
      early.erase(at);
    }
  }
  for (const std::string& words : pool.last_words()) take({true, words});
}

}  // namespace liqo::sim
