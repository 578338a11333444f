#include "kube/runtime/watched_file.hpp"

#include <fstream>
#include <iterator>

namespace kube {
namespace {

constexpr std::size_t max_bytes = 1 << 20;

}  // namespace

Result<std::string> WatchedFile::read() const {
  std::ifstream file(path_, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!file || text.empty()) return fail(Errc::missing, path_ + " cannot be read");
  if (text.size() > max_bytes) return fail(Errc::too_large, path_ + " is too large");
  return text;
}

boost::asio::awaitable<void> WatchedFile::watch(std::function<void(std::string)> use) {
  for (;;) {
    co_await clock_.sleep(pause_);
    if (auto text = read()) use(std::move(*text));
  }
}

}  // namespace kube
