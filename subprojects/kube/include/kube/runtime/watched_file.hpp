// A small file that may be replaced while the process runs, such as a CA that is mounted from a ConfigMap.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/base/failure.hpp"

namespace kube {

/// Reads one file, at once and every so often. One thread; reads are small and block.
class WatchedFile {
 public:
  /// `clock` outlives it.
  WatchedFile(async::Clock& clock, std::string path, Duration pause = std::chrono::seconds(30))
      : clock_(clock), path_(std::move(path)), pause_(pause) {}

  /// All of it. Errors: those of net::read_file(), and Errc::missing if it is empty.
  Result<std::string> read() const;
  /// Reads again after each pause and hands over what was read, also if it is the same. A file that is being replaced
  /// may be away for a moment: then nothing is handed over. Ends only by cancellation.
  boost::asio::awaitable<void> watch(std::function<void(std::string)> use);

 private:
  async::Clock& clock_;
  std::string path_;
  Duration pause_;
};

}  // namespace kube
