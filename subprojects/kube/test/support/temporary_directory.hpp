// A directory for the files of one test.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kube::test {

/// A new directory, which goes with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "kube-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = std::move(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Where a file of that name is, or would be.
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  /// Puts a file there, in place of one of that name: a reader sees the old one or the new one, whole.
  void write(const std::string& name, const std::string& text) const {
    const std::string next = at(name + ".next");
    std::ofstream(next, std::ios::binary) << text;
    std::filesystem::rename(next, at(name));
  }
  void remove(const std::string& name) const { REQUIRE(std::filesystem::remove(at(name))); }

 private:
  std::string path_;
};

}  // namespace kube::test
