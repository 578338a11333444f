// What a process logs, for tests of it.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace liqo::test {

/// What is logged while it lives.
class LogText {
 public:
  LogText() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    REQUIRE(file_);
    REQUIRE(dup2(fileno(file_), STDERR_FILENO) >= 0);
  }
  LogText(const LogText&) = delete;
  LogText& operator=(const LogText&) = delete;
  ~LogText() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  /// How many lines have this in them.
  std::size_t lines_with(std::string_view text) {
    std::fflush(stderr);
    std::rewind(file_);
    std::size_t count = 0;
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), file_)) count += std::string_view(line.data()).contains(text);
    return count;
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace liqo::test
