// Walks through the files of a volume: from directory to directory by descriptors, and never through a link.
// Tested by test/unit/programs/volume_files_test.py.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/failure.hpp"

namespace liqoctl {

/// The permission bits of a mode.
inline constexpr mode_t permissions = 07777;

/// A file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// The failure (errno) of the last system call, whose name is `what`. `path` is below the volume, "" = the volume
/// itself.
std::unexpected<kube::Failure> failed(std::string_view what, const std::string& path);

/// Writes all of the bytes.
kube::Result<void> write_all(int file, std::string_view bytes, const std::string& path);

/// Opens a directory; fails for a link.
Descriptor open_directory(int parent, const std::string& name);

std::string joined(const std::string& path, const std::string& name);

/// The names in a directory, without the file system's own lost+found. They are sorted, so that the walk is the same
/// everywhere.
kube::Result<std::vector<std::string>> names_in(int directory, const std::string& path);

/// A file that a walk has reached. `path` is below the volume; `name` and `path` of the first directory are "".
struct WalkedFile {
  std::string path, name;
  struct stat about{};
};

/// Visits the files of a walk, directory by directory.
class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;
  virtual kube::Result<void> enter(const WalkedFile& directory) = 0;
  virtual kube::Result<void> leave() { return {}; }
  virtual kube::Result<void> file(const WalkedFile& file, int parent) = 0;
  virtual kube::Result<void> symlink(const WalkedFile& link, const std::string& target) = 0;
  /// `first` is the path under which the file was visited before.
  virtual kube::Result<void> hard_link(const WalkedFile& link, const std::string& first) = 0;
  virtual void left_out(const std::string&) {}
};

/// Passes everything below the directory to `visitor`.
kube::Result<void> walk(const std::string& directory, Visitor& visitor);

/// Reads a file to its end and passes each piece to `take`. Fails if its size is not that of the walk.
kube::Result<void> read_file(int parent, const WalkedFile& walked,
                             const std::function<kube::Result<void>(const std::string& piece)>& take);

}  // namespace liqoctl
