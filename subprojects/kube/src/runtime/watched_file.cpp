#include "kube/runtime/watched_file.hpp"

#include <cerrno>

#include "kube/net/read_file.hpp"

namespace kube {
namespace {

constexpr std::size_t max_bytes = 1 << 20;

}  // namespace

Result<std::string> WatchedFile::read() const {
  auto text = net::read_file(path_, max_bytes);
  if (!text && text.error() == EFBIG) return fail(Errc::too_large, path_ + " is larger than 1 MiB");
  if (!text) return fail(Errc::missing, path_ + " cannot be read");
  if (text->empty()) return fail(Errc::missing, path_ + " is empty");
  return std::move(*text);
}

boost::asio::awaitable<void> WatchedFile::watch(std::function<void(std::string)> use) {
  for (;;) {
    co_await clock_.sleep(pause_);
    if (auto text = read()) use(std::move(*text));
  }
}

}  // namespace kube
