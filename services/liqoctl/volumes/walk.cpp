#include "volumes/walk.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "model/volume/volume_archive.hpp"

namespace liqoctl {

using kube::Errc;
using kube::Result;

namespace {

/// Bounds of the names in one directory, and of the files whose several names are recognised.
constexpr std::size_t max_names = 2'000'000, max_shared = 1'000'000;
constexpr std::string_view lost_and_found = "lost+found";

class Walk {
 public:
  explicit Walk(Visitor& visitor) : visitor_(visitor) {}

  Result<void> run(const std::string& directory) {
    const Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    WalkedFile first;
    if (!root || ::fstat(root.get(), &first.about) != 0) return failed("opening", directory);
    return visit(root.get(), first, 1);
  }

 private:
  Result<void> visit(int directory, const WalkedFile& walked, std::size_t depth) {
    const std::string& path = walked.path;
    if (depth > model::max_depth)
      return kube::fail(Errc::too_large,
                        path + " is nested deeper than " + std::to_string(model::max_depth) + " levels");
    KUBE_TRYV(visitor_.enter(walked));
    KUBE_TRY(names, names_in(directory, path));
    for (const std::string& one : names)
      KUBE_TRYV(visit_one(directory, {.path = joined(path, one), .name = one}, depth));
    return visitor_.leave();
  }

  Result<void> visit_one(int parent, WalkedFile walked, std::size_t depth) {
    auto& [path, name, about] = walked;
    if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return failed("looking at", path);
    if (S_ISDIR(about.st_mode)) {
      const Descriptor inner = open_directory(parent, name);
      if (!inner) return failed("opening", path);
      return visit(inner.get(), walked, depth + 1);
    }
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
      visitor_.left_out(path);
      return {};
    }
    if (S_ISREG(about.st_mode) && about.st_nlink > 1) {
      const std::pair identity{about.st_dev, about.st_ino};
      if (const auto known = shared_.find(identity); known != shared_.end())
        return visitor_.hard_link(walked, known->second);
      if (shared_.size() < max_shared) shared_.emplace(identity, path);
    }
    if (S_ISREG(about.st_mode)) return visitor_.file(walked, parent);
    std::string target(model::max_link + 1, '\0');
    const ssize_t length = ::readlinkat(parent, name.c_str(), target.data(), target.size());
    if (length < 0) return failed("reading the link", path);
    target.resize(static_cast<std::size_t>(length));
    return visitor_.symlink(walked, target);
  }

  Visitor& visitor_;
  std::map<std::pair<dev_t, ino_t>, std::string> shared_;
};

}  // namespace

std::unexpected<kube::Failure> failed(std::string_view what, const std::string& path) {
  const int error = errno;
  return kube::fail(error == ENOSPC ? Errc::too_large : Errc::invalid_input,
                    std::string(what) + " " + (path.empty() ? "the volume" : path) + ": " + std::strerror(error));
}

Result<void> write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("writing", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Descriptor open_directory(int parent, const std::string& name) {
  return Descriptor(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

Result<std::vector<std::string>> names_in(int directory, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0)), &::closedir);
  if (!stream) return failed("reading", path);
  ::rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != ".." && !(path.empty() && name == lost_and_found)) names.push_back(std::move(name));
    if (names.size() > max_names)
      return kube::fail(Errc::too_large, (path.empty() ? "the volume" : path) + " has more than " +
                                             std::to_string(max_names) + " files");
    errno = 0;
  }
  if (errno != 0) return failed("reading", path);
  std::ranges::sort(names);
  return names;
}

Result<void> walk(const std::string& directory, Visitor& visitor) { return Walk(visitor).run(directory); }

Result<void> read_file(int parent, const WalkedFile& walked,
                       const std::function<Result<void>(const std::string& piece)>& take) {
  const auto& [path, name, about] = walked;
  const Descriptor file(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed("opening", path);
  std::string piece;
  std::uint64_t left = static_cast<std::uint64_t>(about.st_size);
  while (true) {
    piece.resize(model::archive_chunk);
    const ssize_t length = ::read(file.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return failed("reading", path);
    piece.resize(static_cast<std::size_t>(length));
    if (piece.size() > left || (piece.empty() && left > 0))
      return kube::fail(Errc::invalid_input, path + " was written to while it was read: something uses the volume");
    if (piece.empty()) return {};
    left -= piece.size();
    KUBE_TRYV(take(piece));
  }
}

}  // namespace liqoctl
