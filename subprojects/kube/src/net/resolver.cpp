#include "kube/net/resolver.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "kube/async/event.hpp"

namespace kube::net {

namespace {

/// The most names that are looked up or wait; a further one fails at once.
constexpr std::size_t max_names = 1024;
/// A server has a handful of addresses; of a longer list the rest is left out.
constexpr std::size_t max_addresses = 16;

Result<Resolver::Addresses> ask_the_system(const std::string& host) {
  asio::io_context context(1);
  asio::ip::tcp::resolver resolver(context);
  boost::system::error_code error;
  const auto results = resolver.resolve(host, "", error);
  Resolver::Addresses addresses;
  for (const auto& entry : results) {
    const auto address = entry.endpoint().address();
    if (addresses.size() < max_addresses && std::ranges::find(addresses, address) == addresses.end())
      addresses.push_back(address);
  }
  if (error) return fail(Errc::connect, error.message());
  if (addresses.empty()) return fail(Errc::connect, "no address");
  return addresses;
}

/// Signals are for the thread of the loop. What a thread blocks is blocked in those that it makes.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

/// What loops and threads share, under the mutex.
struct Resolver::State : std::enable_shared_from_this<State> {
  /// A caller that waits, on a loop that lives for as long as this is listed.
  struct Waiter {
    explicit Waiter(const asio::any_io_executor& on) : executor(on), done(on) {}
    asio::any_io_executor executor;
    async::Event done;
    std::optional<Result<Addresses>> answer;
  };
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  State(Ask use, std::size_t most) : ask(std::move(use)), max_threads(most) {}

  Result<void> join(const std::string& host, const std::shared_ptr<Waiter>& waiter);
  void leave(const std::string& host, const std::shared_ptr<Waiter>& waiter);
  void work();

  const Ask ask;
  const std::size_t max_threads;
  std::mutex mutex;
  std::size_t running = 0;
  std::deque<std::string> queue;
  std::map<std::string, Waiters> names;  ///< those that are queued or being looked up
};

Result<void> Resolver::State::join(const std::string& host, const std::shared_ptr<Waiter>& waiter) {
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(host); found != names.end()) {
    found->second.push_back(waiter);
    return {};
  }
  if (names.size() >= max_names) return fail(Errc::too_large, "too many names are being looked up");
  if (running < max_threads) {
    try {
      const WithoutSignals without_signals;
      std::thread([self = shared_from_this()] { self->work(); }).detach();
      ++running;
    } catch (const std::system_error& error) {
      if (running == 0) return fail(Errc::connect, std::string("no thread for it: ") + error.what());
    }
  }
  names[host].push_back(waiter);
  queue.push_back(host);
  return {};
}

void Resolver::State::leave(const std::string& host, const std::shared_ptr<Waiter>& waiter) {
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(host); found != names.end()) std::erase(found->second, waiter);
}

void Resolver::State::work() {
  std::unique_lock lock(mutex);
  while (!queue.empty()) {
    const std::string host = std::move(queue.front());
    queue.pop_front();
    if (names[host].empty()) {  // nobody waits any longer
      names.erase(host);
      continue;
    }
    lock.unlock();
    const auto answer = ask(host);
    lock.lock();
    for (const auto& waiter : names[host])
      asio::post(waiter->executor, [waiter, answer] {
        waiter->answer = answer;
        waiter->done.set();
      });
    names.erase(host);
  }
  --running;
}

Resolver::Resolver(Ask ask, std::size_t max_threads) : state_(std::make_shared<State>(std::move(ask), max_threads)) {}

const std::shared_ptr<Resolver>& Resolver::of_the_system() {
  // Never destroyed: its threads may still wait for a name server when the process ends.
  static const auto* const one = new std::shared_ptr<Resolver>(std::make_shared<Resolver>(ask_the_system));
  return *one;
}

asio::awaitable<Result<Resolver::Addresses>> Resolver::look_up(std::string host) {
  const auto state = state_;
  const auto waiter = std::make_shared<State::Waiter>(co_await asio::this_coro::executor);
  KUBE_CO_TRYV(state->join(host, waiter));
  struct AtEnd {
    State& state;
    const std::string& host;
    const std::shared_ptr<State::Waiter>& waiter;
    ~AtEnd() { state.leave(host, waiter); }
  };
  const AtEnd at_end{*state, host, waiter};
  co_await waiter->done.wait();
  co_return std::move(*waiter->answer);
}

}  // namespace kube::net
