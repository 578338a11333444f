// What a test writes to the standard error, the log above all.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

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
  /// How often a text stands in it.
  int count(std::string_view what) const {
    const std::string all = text();
    int found = 0;
    for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++found;
    return found;
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace kube::test
