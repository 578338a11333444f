// The standard error of a test: the log above all.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace kube::test {

/// Takes what is written to the standard error while it lives. One at a time.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), before_(::dup(STDERR_FILENO)) { ::dup2(::fileno(file_), STDERR_FILENO); }
  ~CapturedStderr() {
    std::fflush(stderr);
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    std::fclose(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  /// All of it until now.
  std::string text() const {
    std::fflush(stderr);
    std::string all;
    char piece[4096];
    for (ssize_t got = 0; (got = ::pread(::fileno(file_), piece, sizeof(piece), static_cast<off_t>(all.size()))) > 0;)
      all.append(piece, static_cast<std::size_t>(got));
    return all;
  }
  /// How many lines have this in them.
  std::size_t lines_with(std::string_view part) const {
    const std::string all = text();
    std::size_t lines = 0;
    for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at)) {
      ++lines;
      at = std::min(all.find('\n', at), all.size());
    }
    return lines;
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace kube::test
