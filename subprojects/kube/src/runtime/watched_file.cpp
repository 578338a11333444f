#include "kube/runtime/watched_file.hpp"

#include "kube/net/read_file.hpp"

namespace kube {

Result<std::string> WatchedFile::read() const {
  auto text = net::read_file(path_);
  if (text && text->empty()) return fail(Errc::missing, path_ + " is empty");
  return text;
}

boost::asio::awaitable<void> WatchedFile::watch(std::function<void(std::string)> use) {
  while (true) {
    co_await clock_.sleep(pause_);
    if (auto text = read()) use(std::move(*text));
  }
}

}  // namespace kube
